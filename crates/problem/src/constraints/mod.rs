//! Linear constraints `A x + B y = c` between the parameter and what the penalty sees.
