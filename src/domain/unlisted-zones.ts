/**
 * Zones of the IANA database (its files `backward` and `etcetera`, 2025b) that the runtime takes and does not list: it
 * lists one name of each zone, often an older one (Asia/Calcutta). By region, the names within it.
 */
const names: Readonly<Record<string, string>> = {
  Africa: "Asmara Timbuktu",
  America:
    "Argentina/Buenos_Aires Argentina/Catamarca Argentina/ComodRivadavia Argentina/Cordoba Argentina/Jujuy " +
    "Argentina/Mendoza Atikokan Atka Ensenada Fort_Wayne Indiana/Indianapolis Kentucky/Louisville Knox_IN Montreal " +
    "Nipigon Nuuk Pangnirtung Porto_Acre Rainy_River Rosario Santa_Isabel Shiprock Thunder_Bay Virgin Yellowknife",
  Antarctica: "South_Pole",
  Asia:
    "Ashkhabad Choibalsan Chongqing Chungking Dacca Harbin Ho_Chi_Minh Istanbul Kashgar Kathmandu Kolkata Macao " +
    "Tel_Aviv Thimbu Ujung_Pandang Ulan_Bator Yangon",
  Atlantic: "Faroe Jan_Mayen",
  Australia: "ACT Canberra Currie LHI NSW North Queensland South Tasmania Victoria West Yancowinna",
  Brazil: "Acre DeNoronha East West",
  Canada: "Atlantic Central Eastern Mountain Newfoundland Pacific Saskatchewan Yukon",
  Chile: "Continental EasterIsland",
  Etc:
    "GMT GMT+0 GMT+1 GMT+10 GMT+11 GMT+12 GMT+2 GMT+3 GMT+4 GMT+5 GMT+6 GMT+7 GMT+8 GMT+9 GMT-0 GMT-1 GMT-10 GMT-11 " +
    "GMT-12 GMT-13 GMT-14 GMT-2 GMT-3 GMT-4 GMT-5 GMT-6 GMT-7 GMT-8 GMT-9 GMT0 Greenwich UCT UTC Universal Zulu",
  Europe: "Belfast Kyiv Nicosia Tiraspol Uzhgorod Zaporozhye",
  Mexico: "BajaNorte BajaSur General",
  Pacific: "Chuuk Johnston Kanton Pohnpei Samoa Yap",
  US: "Alaska Aleutian Arizona Central East-Indiana Eastern Hawaii Indiana-Starke Michigan Mountain Pacific Samoa",
};

/** Their whole names: `Asia/Kolkata`. */
export const unlistedZones: readonly string[] = Object.entries(names).flatMap(([region, cities]) =>
  cities.split(" ").map((city) => `${region}/${city}`),
);
