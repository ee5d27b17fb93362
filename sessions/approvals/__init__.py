"""Human approval of held calls: lifecycle, grants, queue, cards, REST and pages."""
