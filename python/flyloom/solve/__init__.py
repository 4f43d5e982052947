"""Questions to solvers: linear programs, satisfiability, and the search for graphs."""
