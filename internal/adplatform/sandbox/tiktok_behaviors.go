package sandbox

// tikTokBehaviors are the simulated behaviors of TikTok Ads.
var tikTokBehaviors = []Behavior{}
