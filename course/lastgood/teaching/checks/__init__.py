"""What each exercise of a lab is tested by: one module a lab, each holding an object called `check`."""
