"""What grades: the sandbox, the judge, the class runner, reports and exports, mutants. `autograder …`."""

from lastgood.server.environment import import_nbformat_quickly

import_nbformat_quickly()
