//! Private ADMM in all its forms, as arithmetic on released values.
