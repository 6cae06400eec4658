"""Settings of nbgrader for notebooks of this book; see its section for teachers."""

import os

# An answer is judged on the SIMT machine, and is not counted as the teacher's own.
os.environ |= {"GPUKERNELS_DEVICE": "simt", "GPUKERNELS_PROGRESS": "off"}

c = get_config()  # noqa: F821, nbgrader defines it
c.CourseDirectory.course_id = "gpukernels"
# Students get the skeleton, which stands before the solution, and an empty cell for their text.
c.ClearSolutions.code_stub = {"python": ""}
c.ClearSolutions.text_stub = ""
# Seconds of one cell, ten times nbgrader's own limit.
c.Execute.timeout = 300
