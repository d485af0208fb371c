//! Train convex models on sensitive tables with differential privacy, and a certificate for each.
