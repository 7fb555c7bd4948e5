"""What a report of lab 19 sends its reader back to: headings of the lesson and of the lab."""

DEAD = "lesson 19, “What a dead process leaves behind”"
LOOKS_ALIVE = "lab 19, “It looks alive”"
NEWEST = "lab 19, “The newest checkpoint”"
FOR_EVER = "lab 19, “It fails again, and again”"
ONE_PROCESS = "lab 19, “One process after the other”"
COUNTED = "lab 19, “What a failure cost”"
RATIO = "lab 19, “How much of the time was training?”"
