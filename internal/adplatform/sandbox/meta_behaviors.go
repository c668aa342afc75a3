package sandbox

// metaBehaviors are the simulated behaviors of Meta Ads.
var metaBehaviors = []Behavior{}
