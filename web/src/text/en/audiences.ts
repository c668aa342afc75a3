import { and, or } from "./list";
import { plural } from "./plural";

/** Who is in an audience. Places, languages and audiences are their names. */
export interface Described {
  genders: readonly string[];
  age: { min: number | null; max: number | null } | null;
  places: readonly string[];
  languages: readonly string[];
  interests: readonly string[];
  devices: readonly string[];
  included: readonly string[];
  excluded: readonly string[];
}

const people: Record<string, string> = {
  female: "women",
  male: "men",
  other: "people of other genders",
  unknown: "people of unknown gender",
};

const devices: Record<string, string> = { tv: "TV" };

const quoted = (names: readonly string[]) => or(names.map((n) => `"${n}"`));

/** Some countries have an article: "the United States". */
const withArticle = (place: string) =>
  /^(United |Netherlands|Philippines|Bahamas|Maldives|Dominican Republic|Central African)|Islands$|Territories$/.test(
    place,
  )
    ? `the ${place}`
    : place;

function aged(age: Described["age"]): string {
  const { min, max } = age ?? { min: null, max: null };
  if (min && max) return min === max ? ` aged ${min}` : ` aged ${min} to ${max}`;
  if (min) return ` aged ${min} and over`;
  return max ? ` aged up to ${max}` : "";
}

/** An audience by attributes as one sentence. */
function describe(d: Described): string {
  const who = d.genders.length > 0 ? and(d.genders.map((g) => people[g] ?? g)) : "people";
  const where = d.places.length > 0 ? ` in ${or(d.places.map(withArticle))}` : "";
  const parts = [
    who + aged(d.age) + where,
    d.languages.length > 0 ? `who speak ${or(d.languages)}` : "",
    d.interests.length > 0 ? `interested in ${or(d.interests)}` : "",
    d.devices.length > 0 ? `on ${or(d.devices.map((x) => devices[x] ?? x))}` : "",
    d.included.length > 0 ? `who are in ${quoted(d.included)}` : "",
    d.excluded.length > 0 ? `but not in ${quoted(d.excluded)}` : "",
  ].filter(Boolean);
  const text = parts.join(", ");
  return text === "people" ? "Everyone." : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** The pages of audiences. */
export const audiences = {
  title: "Audiences",
  audience: "Audience",
  type: "Type",
  status: "Status",
  size: "Size",
  tags: "Tags",
  newAudience: "New audience",
  create: "Create audience",
  types: {
    targeting: "Targeting",
    customer_list: "Customer list",
    lookalike: "Lookalike",
    platform: "Platform audience",
  },
  archived: "Audience archived.",

  list: {
    sub: "The people your campaigns should reach.",
    search: "Search by name",
    anyType: "Any type",
    notArchived: "Not archived",
    tag: "Tag",
    anyTag: "Any tag",
    platforms: "Platforms",
    campaigns: "Campaigns",
    updated: "Updated",
    noMatch: "No matching audiences",
    noMatchHint: "Remove a filter, or search for something else.",
    clear: "Clear filters",
    empty: "No audiences yet",
    emptyHint: "Define people by attributes, upload a customer list, or find people similar to another audience.",
  },

  kinds: {
    targeting: "By country, age, interests and other attributes",
    customer_list: "Your customers, by email address or phone number",
    lookalike: "People similar to another audience",
  },
  created: "Audience created.",
  createdWith: (n: number) => plural(n, "Audience created with # member.", "Audience created with # members."),
  createdWithout: (problem: string) => `Audience created, but some members weren't added: ${problem}`,

  build: {
    countries: "Countries",
    regions: "Regions or cities",
    languages: "Languages",
    interests: "Interests",
    genders: "Genders",
    gender: { female: "Female", male: "Male", other: "Other", unknown: "Unknown" },
    devices: "Devices",
    included: "Only people in",
    excluded: "Exclude people in",
    chooseAudiences: "Choose audiences",
    sizeHint: "The size appears once a connected platform reports it. Fanfare doesn't estimate sizes.",
    ageFrom: "Minimum age",
    ageTo: "Maximum age",
    seed: "Source audience",
    seedHint: "A customer list of buyers works well.",
    chooseAudience: "Choose an audience",
    percentHint: "Share of each country's population. A smaller share is more similar.",
    mostSimilar: (share: string) => `${share}, most similar`,
    broadest: (share: string) => `${share}, broadest`,
    any: "Any",
    noResults: (text: string) => `No results for "${text}".`,
    typeAndEnter: "Type and press Enter",
  },

  describe,
  describeLookalike: (share: string, seed: string, countries: readonly string[]) =>
    countries.length > 0
      ? `The ${share} of people in ${or(countries.map(withArticle))} who are most similar to "${seed}".`
      : `The ${share} of people who are most similar to "${seed}".`,
  describeList: "The people on this list, matched by hashed email address or phone number.",
  describePlatforms: (platforms: readonly string[]) => `Defined on ${and(platforms)}.`,
  describePlatform: "Defined on its ad platform.",

  detail: {
    archivedHint: "This audience is archived, so campaigns don't use it. Restore it to use it again.",
    restore: "Restore",
    archive: "Archive",
    edit: "Edit",
    editTitle: "Edit audience",
    methods: {
      exact: "Members counted",
      platform: "Reported by connected platforms",
      modelled: "Modeled",
    },
    noSize: "No connected platform has reported a size yet.",
    unknownSize: "Unknown",
    matched: (n: string) => `${n} matched`,
    needed: "Members that campaigns need",
    need: (least: string, missing: string, share: string) =>
      `Campaigns need at least ${least} members. ${missing} more to go (${share}).`,
    definition: "Definition",
    createdBy: "Created by",
    updated: "Updated",
    id: "ID",
    saved: "Audience saved.",
    description: "Description",
    platformHint: "This audience comes from the ad platform. Edit its definition there.",
    tagsHint: "Separate tags with commas.",
  },

  members: {
    add: "Add members",
    addCount: (n: number) => plural(n, "Add # member", "Add # members"),
    added: (n: number, total: string) =>
      plural(n, `# member added. Total: ${total}.`, `# members added. Total: ${total}.`),
    remove: "Remove members",
    removeCount: (n: number) => plural(n, "Remove # member", "Remove # members"),
    removed: (n: number, total: string) =>
      plural(n, `# member removed. Total: ${total}.`, `# members removed. Total: ${total}.`),
    privacy:
      "Email addresses and phone numbers are hashed (SHA-256) in your browser. Only the hashes are sent and stored.",
    field: "Email addresses, phone numbers or hashes",
    fieldHint: "One per line, or a CSV with any columns. Phone numbers need a country code, such as +1.",
    chooseFile: "Choose file",
    toHash: (n: string) => `${n} to hash`,
    hashed: (n: string) => `${n} already hashed`,
    skipped: (n: number) =>
      plural(n, "# line skipped: no address, number or hash", "# lines skipped: no address, number or hash"),
    hashing: "Hashing",
    sending: "Uploading",
  },

  insights: {
    title: "Insights",
    period: (from: string, to: string, zone: string) => `${from} – ${to}, ${zone}`,
    periodAsOf: (from: string, to: string, zone: string, ago: string) => `${from} – ${to}, ${zone}; updated ${ago}`,
    workspace: "vs. entire workspace",
    versus: (audience: string) => `vs. ${audience}`,
    missing: "Missing data",
    bestDays: "Best days",
    bestDaysHint: "100 is the average day.",
    /** The short name of a day of the week. */
    shortDay: (day: string) => day.slice(0, 3),
    performance: "Performance",
    performanceHint: "Compared with the entire workspace.",
    ofWorkspace: (share: string) => `${share} of workspace`,
    byDay: (metric: string) => `${metric} by day`,
    metric: "Metric",
    age: "Age",
    country: "Country",
    gender: "Gender",
    device: "Device",
    shareHint: "Share of impressions. An index of 100 matches the comparison.",
    shareOf: (dimension: string) => `${dimension}, share of impressions`,
    share: "Share",
    index: "Index",
    channels: "Channels",
    channelsHint: "Bars show impressions.",
    overlap: "Overlap",
    overlapHint: "Members who are also on other customer lists.",
    overlapLabel: "Overlap with other customer lists",
    shared: "Shared",
    ofThis: "% of this list",
    ofBoth: "% of both lists",
    topCreatives: "Top creatives",
    campaigns: "Campaigns",
    campaignsLabel: "Campaigns with this audience",
  },
};
