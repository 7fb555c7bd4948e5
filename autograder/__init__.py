"""What grades: mutants, notebook builds and the class demo."""
