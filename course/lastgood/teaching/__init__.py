"""What makes it a course: checks, study aids and views."""
