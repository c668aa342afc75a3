package sandbox

// linkedInBehaviors are the simulated behaviors of LinkedIn Ads.
var linkedInBehaviors = []Behavior{}
