"""What users call: one function a verb, a file for each subject."""
