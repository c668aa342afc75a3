package sandbox

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// metaNodeFields are the fields and edges of kinds of objects, from Meta's SDK for
// Python (facebook-business 26.0.3). Fields that the sandbox does not have are
// left out of answers, as Meta does for objects without a value.
var metaNodeFields = map[string]map[string]bool{
	"AdAccount": metaNameSet(`
account_controls account_id account_status activities ad_account_promotable_objects ad_place_page_sets ad_place_page_sets_async ad_saved_keywords
ad_studies adcloudplayables adcreatives adcreativesbylabels adimages adlabels adplayables adrules_history adrules_library ads
ads_reporting_mmm_reports ads_reporting_mmm_schedulers ads_volume adsbylabels adsets adsetsbylabels adspixels advertisable_applications advideos
affectedadsets age agencies agency_client_declaration all_capabilities amount_spent applications assigned_users async_batch_requests async_requests
asyncadcreatives asyncadrequestsets attribution_spec audience_funnel balance block_list_drafts brand_safety_content_filter_levels
broadtargetingcategories business business_city business_country_code business_name business_state business_street business_street2 business_zip
businessprojects campaigns campaignsbylabels can_create_brand_lift_study capabilities connected_instagram_accounts
connected_instagram_accounts_with_iabp conversion_goals created_time currency custom_audience_info customaudiences customaudiencestos
customconversions default_dsa_beneficiary default_dsa_payor delivery_estimate deprecatedtargetingadsets disable_reason dsa_recommendations
end_advertiser end_advertiser_name existing_customers expired_funding_source_details extended_credit_invoice_group failed_delivery_checks fb_entity
funding_source funding_source_details generatepreviews has_migrated_permissions has_page_authorized_adaccount id impacting_ad_studies insights
instagram_accounts io_number ios_fourteen_campaign_limits is_attribution_spec_system_default is_ba_skip_delayed_eligible is_direct_deals_enabled
is_in_3ds_authorization_enabled_market is_notifications_enabled is_personal is_prepay_account is_tax_id_required liable_address line_numbers
marketing_messages_settings matched_search_applications max_bid mcmeconversions media_agency message_campaign message_delivery_estimate messages
min_campaign_group_spend_cap min_daily_budget minimum_budgets name offsite_clo_signal_status offsite_pixels_tos_accepted onbehalf_requests
opportunity_score opportunity_score_weight owner owner_business partner product_audiences promote_pages publisher_block_lists reachestimate
reachfrequencypredictions recommendations rf_spec saved_audiences send_bill_to_address show_checkout_experience sold_to_address spend_cap
subscribed_apps targetingbrowse targetingsearch targetingsentencelines targetingsuggestions targetingvalidation tax_id tax_id_status tax_id_type
timezone_id timezone_name timezone_offset_hours_utc tos_accepted tracking user_access_expire_time user_tasks user_tos_accepted users
usersofanyaudience value_rule_set value_rule_set_translation video_ads viewable_business`),
	"Campaign": metaNameSet(`
account_id ad_studies adbatch adlabels adrules_governed ads adsets advantage_state_info bid_constraints bid_strategy boosted_object_id
brand_lift_studies budget_rebalance_flag budget_remaining budget_schedule_specs budget_schedules buying_type campaign_group_active_time
can_create_brand_lift_study can_use_spend_cap configured_status copies created_time daily_budget effective_status execution_options
frequency_control_specs has_secondary_skadnetwork_reporting id insights is_adset_budget_sharing_enabled is_budget_schedule_enabled
is_direct_send_campaign is_message_campaign is_meta_moment_maker_enabled is_pca_unified is_reels_trending_ads_enabled is_skadnetwork_attribution
issues_info iterative_split_test_configs last_budget_toggling_time lifetime_budget name objective pacing_type primary_attribution promoted_object
recommendations smart_promotion_type source_campaign source_campaign_id source_recommendation_type special_ad_categories special_ad_category
special_ad_category_country spend_cap start_time status stop_time topline_id updated_time`),
	"AdSet": metaNameSet(`
account_id activities ad_set_goal ad_studies adcreatives adlabels adrules_governed ads adset_schedule anchor_event_attribution_window_days
asset_feed_id asyncadrequests attribution_count_type attribution_spec automatic_manual_state bid_adjustments bid_amount bid_constraints bid_info
bid_strategy billing_event brand_safety_config budget_remaining budget_schedules campaign campaign_active_time campaign_attribution campaign_id
configured_status copies created_time creative_diversity_label creative_diversity_score creative_sequence creative_sequence_repetition_pattern
daily_budget daily_min_spend_target daily_spend_cap delivery_estimate destination_type dsa_beneficiary dsa_payor effective_status end_time
existing_customer_budget_percentage frequency_control_specs full_funnel_exploration_mode id insights instagram_user_id is_ba_skip_delayed_eligible
is_budget_schedule_enabled is_dc_follow_optimized is_dynamic_creative is_incremental_attribution_enabled is_organic_ad_joint_optimized
is_sequenced_conversion_creation issues_info learning_stage_info lifetime_budget lifetime_imps lifetime_min_spend_target lifetime_spend_cap
live_video_ad_campaign_config low_creative_reach max_budget_spend_percentage message_delivery_estimate meta_moment_maker_spec
min_budget_spend_percentage multi_event_conversion_attribution_window_seconds multi_optimization_goal_weight name optimization_goal
optimization_sub_event pacing_type placement_soft_opt_out promoted_object recommendations recurring_budget_semantics regional_regulated_categories
regional_regulation_identities relative_value review_feedback rf_prediction_id source_adset source_adset_id special_ad_categories start_time status
targeting targeting_optimization_types targetingsentencelines time_based_ad_rotation_id_blocks time_based_ad_rotation_intervals trending_topics_spec
updated_time use_new_app_click value_rule_set_id value_rules_applied`),
	"Ad": metaNameSet(`
account_id ad_active_time ad_review_feedback ad_schedule_end_time ad_schedule_start_time adcreatives adlabels adrules_governed adset adset_id
adset_spec audience_id bid_amount bid_info bid_type campaign campaign_id configured_status conversion_domain conversion_specs copies created_time
creative creative_asset_groups_spec creative_audience_pairing_persona creative_automation_spec dataset_split_specs date_format demolink_hash
display_sequence draft_adgroup_id effective_status engagement_audience execution_options failed_delivery_checks filename id include_demolink_hashes
insights issues_info last_updated_by_app_id leads name placement preview_shareable_link previews priority recommendations source_ad source_ad_id
special_ad_categories status targeting targetingsentencelines tracking_and_conversion_with_defaults tracking_specs updated_time`),
	"CustomAudience": metaNameSet(`
account_id adaccounts ads allowed_domains approximate_count_lower_bound approximate_count_upper_bound associated_audience_id audience_labels
claim_objective content_type countries creation_params customer_file_source data_source data_source_types datafile_custom_audience_uploading_status
dataset_id delete_time delivery_status description enable_fetch_or_create event_source_group event_sources excluded_custom_audiences exclusions
external_event_source facebook_page_id fields_violating_integrity_policy health household_audience id included_custom_audiences inclusionOperator
inclusions is_eligible_for_sac_campaigns is_household is_snapshot is_value_based list_of_accounts lookalike_audience_ids lookalike_spec
marketing_message_channels messenger_marketing_messages_page name operation_status opt_out_link origin_audience_id owner_business
page_deletion_marked_delete_time parent_audience_id partner_reference_key permission_for_actions pixel_id prefill product_set_id
regulated_audience_spec retention_days rev_share_policy_id rule rule_aggregation rule_v2 salts seed_audience sessions shared_account_info
sharing_status subscription_info subtype time_content_updated time_created time_updated usage_restriction use_for_products use_in_campaigns users
usersreplace video_group_ids whats_app_business_phone_number_id`),
	"User": metaNameSet(`
about access_tokens accounts ad_studies adaccounts age_range albums applications apprequestformerrecipients apprequests assigned_ad_accounts
assigned_applications assigned_business_asset_groups assigned_instagram_accounts assigned_pages assigned_product_catalogs
assigned_whatsapp_business_accounts birthday business_users businesses client_business_id community conversations cover currency custom_labels
education email events favorite_athletes favorite_teams feed first_name friends fundraisers gender groups hometown id ids_for_apps ids_for_business
ids_for_pages inspirational_people install_type installed is_guest_user is_work_account languages last_name likes link live_videos
local_news_megaphone_dismiss_status local_news_subscription_status locale location meeting_for messenger_desktop_performance_traces
messenger_kids_accounts_unread_badge middle_name music name name_format notifications payment_pricepoints payment_transactions permissions
personal_ad_accounts photos picture political posts profile_pic quotes relationship_status religion rich_media_documents
shared_login_upgrade_required_by short_name significant_other sports staging_resources supports_donate_button_in_live_video third_party_id timezone
token_for_business updated_time verified video_upload_limits videos website`),
}

// checkFields refuses fields that a kind of object does not have.
func (c metaCall) checkFields(kind string) *metaError {
	for _, name := range metaFields(c.params.Get("fields")) {
		// Edges can have a limit and conditions: insights.limit(1).
		name, _, _ = strings.Cut(name, ".")
		if name != "id" && !metaNodeFields[kind][name] {
			return metaInvalid("Tried accessing nonexisting field (%s) on node type (%s)", name, kind)
		}
	}
	return nil
}

// metaKinds are the kinds of objects by the names that filters use.
var metaKinds = map[string]string{"campaign": "Campaign", "adset": "AdSet", "ad": "Ad"}

// metaKindOf returns the kind of an object.
func metaKindOf(object any) string {
	switch object.(type) {
	case *Campaign:
		return "Campaign"
	case *Group:
		return "AdSet"
	}
	return "Ad"
}

// writeNode answers with an object.
func (c metaCall) writeNode(kind string, node map[string]any, defaults ...string) {
	if refused := c.checkFields(kind); refused != nil {
		c.writeError(refused)
		return
	}
	c.writeAnswer(c.selectFields(node, defaults...))
}

// metaTime returns the beginning of a day in the format of Meta's moments.
func metaTime(a *Account, day clock.Date) string {
	year, month, of := day.Calendar()
	return time.Date(year, month, of, 0, 0, 0, 0, a.zone).Format("2006-01-02T15:04:05-0700")
}

// updatedTime returns when a campaign was changed last.
//
// Choice: the sandbox knows the day of a change and not its time.
func (c metaCall) updatedTime(a *Account, campaign *Campaign) string {
	if changes := c.server.state.runChangesOf(a)[campaign.ID]; len(changes) > 0 {
		return metaTime(a, changes[len(changes)-1].Day)
	}
	return metaTime(a, campaign.Start)
}

// metaZones are Meta's numbers of time zones. The others are unknown.
//
// Choice: Meta has a list of about 400; the sandbox has those of its examples.
var metaZones = map[string]int{"America/Los_Angeles": 1, "America/New_York": 7, "Europe/Berlin": 47, "Europe/London": 58, "Asia/Tokyo": 75, "UTC": 479}

// accountDetails are the fields of an account that do not depend on switches.
func (c metaCall) accountDetails(a *Account) map[string]any {
	_, offset := c.Now().In(a.zone).Zone()
	var spent int64
	// Adding up all days takes long.
	if slices.Contains(metaFields(c.params.Get("fields")), "amount_spent") {
		for row := range c.Rows(a, ByAccount, a.First, c.Today(a)) {
			spent += row.Values.V[fact.Spend]
		}
	}
	return map[string]any{
		"timezone_id": cmp.Or(metaZones[a.Set.Timezone], 479), "timezone_offset_hours_utc": float64(offset) / 3600, "amount_spent": metaBudget(a, spent), "balance": "0",
		"spend_cap": "0", "created_time": metaTime(a, a.First), "business_name": a.Name, "business_country_code": a.countries[0], "owner": a.ID + "5",
		"age": float64(c.Today(a) - a.First), "min_daily_budget": 100, "is_personal": 0, "is_prepay_account": false, "tax_id_status": 0,
	}
}
