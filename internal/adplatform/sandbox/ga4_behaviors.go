package sandbox

// ga4Behaviors are the simulated behaviors of GA4.
var ga4Behaviors = []Behavior{}
