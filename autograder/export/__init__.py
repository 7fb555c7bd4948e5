"""Grades for Canvas, for Moodle and for a spreadsheet, as nbgrader export plugins.

`autograder export LAB --format canvas` writes them, and so does nbgrader's own command:

    nbgrader export --exporter=autograder.export.canvas.CanvasExporter --assignment '["lab18"]'
"""
