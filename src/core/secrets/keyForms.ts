/**
 * The forms of keys, vendor by vendor: a literal beginning, then a run of characters. Everything here is public: the
 * vendors' own pages on token formats, and the prefixes that GitHub's and GitLab's secret scanning name. Lengths are lower
 * bounds well below the real ones, since a key that a terminal or a summary has cut off is still most of a key.
 */

/** A form of keys. It is a literal and one run, so a search for it is linear: docs/decisions/0024-key-forms.md. */
export interface KeyForm {
  /** Whose keys, for people and for tests. */
  readonly of: string;
  /** The literal beginnings, with the case that they have. */
  readonly starts: readonly string[];
  /** The characters of the rest. */
  readonly body: Body;
  /** Fewest characters of the rest. */
  readonly min: number;
  /** True where the beginning is also that of ordinary words: the rest must then hold a digit. */
  readonly needsDigit?: true;
}

/** Classes of characters, as regular expressions write them between brackets. */
export const BODIES = {
  hex: 'a-fA-F0-9',
  alphanumeric: 'A-Za-z0-9',
  word: '\\w',
  dashed: '\\w-',
  dotted: '\\w.-',
  base64: 'A-Za-z0-9+/=_-',
  dottedBase64: 'A-Za-z0-9+/=_.:-',
  starred: '\\w*.-',
} as const;
export type Body = keyof typeof BODIES;

export const KEY_FORMS: readonly KeyForm[] = [
  // Models and what surrounds them
  { of: 'OpenAI, Anthropic, OpenRouter, DeepSeek', starts: ['sk-'], body: 'starred', min: 16, needsDigit: true },
  { of: 'Anthropic', starts: ['sk-ant-'], body: 'starred', min: 6 },
  {
    of: 'OpenAI projects and service accounts',
    starts: ['sk-proj-', 'sk-svcacct-', 'sk-admin-'],
    body: 'starred',
    min: 6,
  },
  { of: 'OpenRouter', starts: ['sk-or-'], body: 'starred', min: 6 },
  { of: 'Google API', starts: ['AIza'], body: 'dashed', min: 20 },
  // ai.google.dev/gemini-api/docs/api-key: the keys that AI Studio gives since 2026
  { of: 'Google authorization', starts: ['AQ.Ab'], body: 'dashed', min: 20 },
  { of: 'Google OAuth access', starts: ['ya29.'], body: 'dotted', min: 8 },
  { of: 'Google OAuth client', starts: ['GOCSPX-'], body: 'dashed', min: 12 },
  { of: 'Google OAuth refresh', starts: ['1//0'], body: 'dashed', min: 20 },
  { of: 'Groq', starts: ['gsk_'], body: 'alphanumeric', min: 20, needsDigit: true },
  { of: 'xAI', starts: ['xai-'], body: 'word', min: 20 },
  { of: 'Perplexity', starts: ['pplx-'], body: 'word', min: 20 },
  { of: 'Hugging Face', starts: ['hf_', 'api_org_'], body: 'alphanumeric', min: 20, needsDigit: true },
  { of: 'Replicate', starts: ['r8_'], body: 'word', min: 20 },
  { of: 'Together', starts: ['tgp_v1_'], body: 'dashed', min: 16 },
  { of: 'Fireworks', starts: ['fw_'], body: 'alphanumeric', min: 20, needsDigit: true },
  { of: 'Cerebras', starts: ['csk-'], body: 'word', min: 20 },
  { of: 'NVIDIA', starts: ['nvapi-'], body: 'dashed', min: 20 },
  { of: 'LangSmith', starts: ['lsv2_pt_', 'lsv2_sk_'], body: 'word', min: 16 },
  { of: 'Langfuse', starts: ['sk-lf-', 'pk-lf-'], body: 'dashed', min: 16 },
  { of: 'Pinecone', starts: ['pcsk_'], body: 'word', min: 16 },
  { of: 'Tavily', starts: ['tvly-'], body: 'dashed', min: 16 },
  { of: 'Firecrawl', starts: ['fc-'], body: 'hex', min: 24 },
  { of: 'E2B', starts: ['e2b_'], body: 'word', min: 20 },
  { of: 'Jina', starts: ['jina_'], body: 'dashed', min: 20 },
  { of: 'Weights & Biases', starts: ['wandb_v1_'], body: 'word', min: 20 },
  { of: 'Cursor', starts: ['crsr_'], body: 'word', min: 20 },
  // docs.cursor.com, "Admin API": `key_` and 64 digits
  { of: 'Cursor administration', starts: ['key_'], body: 'hex', min: 40 },
  // platform.openai.com, "Realtime API": client secrets
  {
    of: 'OpenAI sessions and client secrets',
    starts: ['sess-', 'ek_'],
    body: 'alphanumeric',
    min: 24,
    needsDigit: true,
  },
  // docs.runpod.io, "Manage API keys"
  { of: 'RunPod', starts: ['rpa_'], body: 'alphanumeric', min: 32 },
  // docs.anyscale.com, "Authenticate with the Anyscale API"
  { of: 'Anyscale', starts: ['esecret_', 'aph0_'], body: 'alphanumeric', min: 24, needsDigit: true },
  // friendli.ai/docs, "Personal access tokens"
  { of: 'Friendli', starts: ['flp_'], body: 'alphanumeric', min: 28 },
  // docs.browserbase.com, "Getting your API key"
  { of: 'Browserbase', starts: ['bb_live_', 'bb_test_'], body: 'dashed', min: 20 },
  { of: 'Sourcegraph', starts: ['sgp_', 'sgd_'], body: 'word', min: 20 },
  // Code hosting, packages, builds
  {
    of: 'GitHub',
    starts: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
    body: 'word',
    min: 12,
    needsDigit: true,
  },
  {
    of: 'GitLab',
    starts: [
      'glpat-',
      'gldt-',
      'glrt-',
      'glrtr-',
      'glcbt-',
      'glptt-',
      'glft-',
      'glsoat-',
      'glimt-',
      'glagent-',
      'gloas-',
      'glffct-',
      'glwt-',
    ],
    body: 'dotted',
    min: 16,
  },
  { of: 'GitLab runner registration', starts: ['GR1348941'], body: 'dashed', min: 16 },
  { of: 'Bitbucket', starts: ['ATBB', 'ATCTT3xFf'], body: 'base64', min: 20, needsDigit: true },
  { of: 'Atlassian', starts: ['ATATT3', 'ATSTT3'], body: 'base64', min: 20 },
  { of: 'npm', starts: ['npm_'], body: 'alphanumeric', min: 20 },
  { of: 'PyPI', starts: ['pypi-'], body: 'dashed', min: 30 },
  { of: 'RubyGems', starts: ['rubygems_'], body: 'hex', min: 24 },
  { of: 'crates.io', starts: ['cio'], body: 'alphanumeric', min: 32, needsDigit: true },
  { of: 'NuGet', starts: ['oy2'], body: 'alphanumeric', min: 40 },
  { of: 'Clojars', starts: ['CLOJARS_'], body: 'alphanumeric', min: 30 },
  { of: 'Packagist', starts: ['packagist_uut_', 'packagist_out_', 'packagist_ack_'], body: 'word', min: 20 },
  { of: 'JFrog', starts: ['AKCp', 'cmVmdGtu'], body: 'alphanumeric', min: 30 },
  { of: 'Docker Hub', starts: ['dckr_pat_', 'dckr_oat_'], body: 'dashed', min: 16 },
  { of: 'Buildkite', starts: ['bkua_', 'bkct_'], body: 'word', min: 20 },
  { of: 'CircleCI', starts: ['CCIPAT_', 'CCIPRJ_'], body: 'word', min: 20 },
  { of: 'SonarQube', starts: ['sqp_', 'squ_', 'sqa_'], body: 'hex', min: 24 },
  { of: 'Snyk', starts: ['snyk_uat.', 'snyk_sat.'], body: 'dotted', min: 20 },
  { of: 'JetBrains', starts: ['perm:', 'perm-'], body: 'dottedBase64', min: 40, needsDigit: true },
  { of: 'Octopus Deploy', starts: ['API-'], body: 'alphanumeric', min: 25, needsDigit: true },
  { of: 'Postman', starts: ['PMAK-'], body: 'dashed', min: 24 },
  { of: 'ReadMe', starts: ['rdme_'], body: 'word', min: 24 },
  { of: 'Deno Deploy', starts: ['ddp_', 'ddo_'], body: 'word', min: 20 },
  // Clouds and infrastructure
  { of: 'AWS access key id', starts: ['AKIA', 'ASIA', 'ABIA', 'ACCA'], body: 'alphanumeric', min: 12 },
  { of: 'AWS Bedrock', starts: ['ABSKQmVkcm9ja', 'bedrock-api-key-'], body: 'base64', min: 20 },
  { of: 'DigitalOcean', starts: ['dop_v1_', 'doo_v1_', 'dor_v1_'], body: 'hex', min: 20 },
  { of: 'Heroku', starts: ['HRKU-'], body: 'dashed', min: 24 },
  { of: 'Fly.io', starts: ['fo1_', 'fm1r_', 'fm1a_', 'fm2_'], body: 'base64', min: 24 },
  { of: 'Vercel', starts: ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_', 'vercel_blob_rw_'], body: 'word', min: 20 },
  { of: 'Netlify', starts: ['nfp_', 'nfc_', 'nfo_'], body: 'word', min: 24 },
  { of: 'Render', starts: ['rnd_'], body: 'alphanumeric', min: 20, needsDigit: true },
  // developers.cloudflare.com/fundamentals/api/get-started/token-formats; "Origin CA keys" for the second
  { of: 'Cloudflare', starts: ['cfk_', 'cfut_', 'cfat_'], body: 'alphanumeric', min: 32 },
  { of: 'Cloudflare origin certificates', starts: ['v1.0-'], body: 'dashed', min: 40, needsDigit: true },
  // inngest.com/docs/platform/signing-keys
  { of: 'Inngest', starts: ['signkey-prod-', 'signkey-test-', 'signkey-branch-'], body: 'hex', min: 24 },
  // trigger.dev/docs/apikeys
  {
    of: 'Trigger.dev',
    starts: ['tr_prod_', 'tr_stg_', 'tr_dev_', 'tr_preview_', 'tr_pat_'],
    body: 'alphanumeric',
    min: 20,
  },
  // axiom.co/docs/reference/tokens
  { of: 'Axiom', starts: ['xaat-', 'xapt-'], body: 'dashed', min: 30, needsDigit: true },
  // unkey.com/docs: root keys
  { of: 'Unkey', starts: ['unkey_'], body: 'alphanumeric', min: 20, needsDigit: true },
  // scaleway.com/docs/iam/how-to/create-api-keys
  { of: 'Scaleway access key', starts: ['SCW'], body: 'alphanumeric', min: 17, needsDigit: true },
  { of: 'Alibaba', starts: ['LTAI'], body: 'alphanumeric', min: 14 },
  { of: 'Tencent', starts: ['AKID'], body: 'alphanumeric', min: 24 },
  { of: 'Yandex', starts: ['AQVN', 't1.9eu'], body: 'dotted', min: 28 },
  { of: 'Databricks', starts: ['dapi', 'dkea', 'dose'], body: 'hex', min: 28 },
  { of: 'Doppler', starts: ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.', 'dp.scim.', 'dp.audit.'], body: 'dotted', min: 20 },
  { of: 'HashiCorp Vault', starts: ['hvs.', 'hvb.', 'hvr.'], body: 'dotted', min: 8 },
  { of: 'Pulumi', starts: ['pul-'], body: 'hex', min: 32 },
  { of: 'Infracost', starts: ['ico-'], body: 'alphanumeric', min: 28 },
  { of: '1Password', starts: ['ops_ey'], body: 'base64', min: 40 },
  { of: '1Password secret key', starts: ['A3-'], body: 'dashed', min: 26, needsDigit: true },
  { of: 'Tailscale', starts: ['tskey-'], body: 'dashed', min: 16 },
  { of: 'OpenShift', starts: ['sha256~'], body: 'dashed', min: 32 },
  { of: 'age', starts: ['AGE-SECRET-KEY-1'], body: 'alphanumeric', min: 40 },
  { of: 'Scalingo', starts: ['tk-us-'], body: 'dashed', min: 32 },
  { of: 'Supabase', starts: ['sbp_', 'sb_secret_'], body: 'dashed', min: 20 },
  { of: 'PlanetScale', starts: ['pscale_tkn_', 'pscale_pw_', 'pscale_oauth_'], body: 'dotted', min: 24 },
  { of: 'Neon', starts: ['napi_'], body: 'alphanumeric', min: 30 },
  { of: 'MongoDB Atlas', starts: ['mdb_sa_sk_'], body: 'dashed', min: 20 },
  { of: 'Prefect', starts: ['pnu_', 'pnb_'], body: 'alphanumeric', min: 30 },
  { of: 'Grafana', starts: ['glc_', 'glsa_'], body: 'base64', min: 24 },
  { of: 'New Relic', starts: ['NRAK-', 'NRII-', 'NRIQ-', 'NRJS-', 'NRRA-', 'NRSP-'], body: 'dashed', min: 16 },
  { of: 'Sentry', starts: ['sntrys_', 'sntryu_'], body: 'base64', min: 32 },
  { of: 'Dynatrace', starts: ['dt0c01.', 'dt0s01.'], body: 'dotted', min: 24 },
  { of: 'Honeycomb', starts: ['hcaik_', 'hcbik_', 'hcxik_'], body: 'word', min: 24 },
  { of: 'PostHog', starts: ['phx_'], body: 'word', min: 30 },
  // People and messages
  {
    of: 'Slack',
    starts: ['xoxa-', 'xoxb-', 'xoxc-', 'xoxd-', 'xoxe-', 'xoxe.', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-'],
    body: 'dotted',
    min: 10,
  },
  { of: 'Slack apps', starts: ['xapp-'], body: 'dashed', min: 10 },
  { of: 'SendGrid', starts: ['SG.'], body: 'dotted', min: 20 },
  { of: 'Mailgun', starts: ['key-'], body: 'hex', min: 32 },
  { of: 'Brevo', starts: ['xkeysib-', 'xsmtpsib-'], body: 'dashed', min: 24 },
  { of: 'Twilio', starts: ['SK'], body: 'hex', min: 32 },
  { of: 'HubSpot', starts: ['pat-na1-', 'pat-na2-', 'pat-eu1-'], body: 'dashed', min: 24 },
  { of: 'Notion', starts: ['ntn_', 'secret_'], body: 'alphanumeric', min: 32, needsDigit: true },
  // cal.com/docs/api-reference, "Authentication"
  { of: 'Cal.com', starts: ['cal_live_', 'cal_test_'], body: 'alphanumeric', min: 24 },
  { of: 'Linear', starts: ['lin_api_', 'lin_oauth_'], body: 'word', min: 20 },
  { of: 'Figma', starts: ['figd_', 'figo_', 'figu_', 'figoh_'], body: 'dashed', min: 20 },
  { of: 'Airtable', starts: ['pat'], body: 'dotted', min: 60, needsDigit: true },
  { of: 'Contentful', starts: ['CFPAT-'], body: 'dashed', min: 30 },
  { of: 'Dropbox', starts: ['sl.'], body: 'dashed', min: 60 },
  { of: 'Typeform', starts: ['tfp_'], body: 'dotted', min: 30 },
  { of: 'Facebook', starts: ['EAA'], body: 'alphanumeric', min: 60 },
  { of: 'Twitter bearer', starts: ['AAAAAAAAAAAAAAAAAAAAA'], body: 'dotted', min: 40, needsDigit: true },
  { of: 'Instagram', starts: ['IGQV', 'IGAA'], body: 'dashed', min: 60 },
  { of: 'Mapbox', starts: ['sk.eyJ'], body: 'dotted', min: 30 },
  // Money
  {
    of: 'Stripe, Clerk, Paystack',
    starts: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'pk_live_', 'pk_test_'],
    body: 'starred',
    min: 10,
  },
  { of: 'ElevenLabs and others', starts: ['sk_', 'rk_'], body: 'word', min: 24, needsDigit: true },
  { of: 'Webhook signing', starts: ['whsec_'], body: 'base64', min: 16 },
  { of: 'Square', starts: ['sq0atp-', 'sq0csp-', 'sq0idb-'], body: 'dashed', min: 16 },
  { of: 'Square access', starts: ['EAAA'], body: 'dashed', min: 56 },
  { of: 'PayPal', starts: ['access_token$production$', 'access_token$sandbox$'], body: 'dotted', min: 16 },
  { of: 'Shopify', starts: ['shpat_', 'shpca_', 'shppa_', 'shpss_', 'shptka_'], body: 'hex', min: 24 },
  { of: 'Plaid', starts: ['access-sandbox-', 'access-production-', 'access-development-'], body: 'dashed', min: 24 },
  // developer.paddle.com/api-reference/about/api-keys
  { of: 'Paddle', starts: ['pdl_live_apikey_', 'pdl_sdbx_apikey_', 'pdl_ntfset_'], body: 'word', min: 20 },
  // polar.sh/docs/integrate/authentication
  { of: 'Polar', starts: ['polar_oat_', 'polar_pat_', 'polar_at_o_', 'polar_at_u_'], body: 'alphanumeric', min: 20 },
  { of: 'Razorpay', starts: ['rzp_live_', 'rzp_test_'], body: 'alphanumeric', min: 12 },
  { of: 'Flutterwave', starts: ['FLWSECK-', 'FLWSECK_TEST-'], body: 'dashed', min: 12 },
  { of: 'EasyPost', starts: ['EZAK', 'EZTK'], body: 'alphanumeric', min: 40 },
  { of: 'Duffel', starts: ['duffel_live_', 'duffel_test_'], body: 'dashed', min: 24 },
  { of: 'Shippo', starts: ['shippo_live_', 'shippo_test_'], body: 'hex', min: 24 },
  { of: 'Frame.io', starts: ['fio-u-'], body: 'dashed', min: 40 },
];

export interface KeyShape {
  /** Whose keys, for people and for tests. */
  readonly of: string;
  readonly shape: RegExp;
  /** Stands in each of them, and costs little to look for: most texts have none, and are not searched. */
  readonly holds: string | RegExp;
}

/** Forms that are more than a literal and a run. Each is linear: every repetition is bounded, or ends where nothing before it can. */
export const SHAPES: readonly KeyShape[] = [
  {
    of: 'a key that its vendor shows in part',
    holds: '**',
    shape: /(?<![A-Za-z0-9_])[sr]k[-_][\w.-]{0,60}\*{2,}[\w*.-]{0,60}/g,
  },
  {
    of: 'Slack webhook',
    holds: 'hooks.slack.com/',
    shape: /(?<=hooks\.slack\.com\/(?:services|workflows|triggers)\/)[\w/-]{16,}/g,
  },
  {
    of: 'Discord webhook',
    holds: '/api/webhooks/',
    shape: /(?<=discord(?:app)?\.com\/api\/webhooks\/\d{15,22}\/)[\w-]{16,}/g,
  },
  {
    of: 'Discord bot',
    holds: '.',
    shape: /(?:(?<![\w-])|(?<=\\[nrt]))[MNO][\w-]{22,28}\.[\w-]{6}\.[\w-]{25,45}(?![\w-])/g,
  },
  { of: 'Telegram bot', holds: ':AA', shape: /(?<!\d)\d{8,10}:AA[\w-]{30,40}(?![\w-])/g },
  { of: 'Teams webhook', holds: 'webhook.office.com/', shape: /(?<=webhook\.office\.com\/webhookb2\/)[\w@/-]{40,}/g },
  { of: 'Mailchimp', holds: /-us\d/, shape: /(?:(?<![\w-])|(?<=\\[nrt]))[a-f0-9]{32}-us\d{1,2}(?![\w-])/g },
  {
    of: 'Azure application',
    holds: 'Q~',
    shape: /(?:(?<![\w~.-])|(?<=\\[nrt]))[\w~.-]{3}\dQ~[\w~.-]{31,33}[\w~-]?(?![\w~-])/g,
  },
  { of: 'Azure DevOps', holds: 'AZDO', shape: /(?<![A-Za-z0-9])[A-Za-z0-9]{75}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])/g },
  { of: 'Azure shared access signature', holds: 'sig=', shape: /(?<=[?&]sig=)[\w%+/=-]{20,}/g },
  {
    of: 'AWS signature',
    holds: /X-Amz-/i,
    shape: /(?<=[?&]X-Amz-(?:Signature|Credential|Security-Token)=)[\w%+/=.-]{16,}/gi,
  },
  {
    of: 'Terraform Cloud',
    holds: '.atlasv1.',
    shape: /(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{30,}/g,
  },
  { of: 'bcrypt', holds: '$2', shape: /(?<![\w$])\$2[abxy]\$\d\d\$[\w./]{53}/g },
  {
    of: 'crypt',
    holds: '$',
    shape: /(?<![\w$])\$(?:1|5|6|y|apr1)\$(?:rounds=\d{1,9}\$)?[\w./]{1,40}\$[\w./]{16,100}/g,
  },
  // resend.com/docs/api-reference/api-keys; functions are called `re_…`, too
  {
    of: 'Resend',
    holds: 're_',
    shape: /(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))re_(?=[A-Za-z_]{0,32}\d)[A-Za-z0-9]{8}_[A-Za-z0-9]{16,40}(?![\w-])/g,
  },
  // modal.com/docs/reference/modal.config: a token's id and its secret
  {
    of: 'Modal',
    holds: '-',
    shape: /(?:(?<![\w-])|(?<=\\[nrt]))a[ks]-(?=[a-z\d]{0,21}[A-Z])(?=[A-Z\d]{0,21}[a-z])[A-Za-z0-9]{22}(?![\w-])/g,
  },
  // docs.voyageai.com/docs/api-key-and-installation
  {
    of: 'Voyage',
    holds: 'pa-',
    shape: /(?:(?<![\w-])|(?<=\\[nrt]))pa-(?=[A-Za-z_-]{0,42}\d)(?=[a-z\d_-]{0,42}[A-Z])[\w-]{43}(?![\w-])/g,
  },
  // docs.bigmodel.cn: the id of a key, and its secret
  {
    of: 'Zhipu',
    holds: /\.(?=[A-Za-z]{0,15}\d)[A-Za-z0-9]{16}(?![\w-])/,
    shape: /(?:(?<![\w.-])|(?<=\\[nrt]))[a-f0-9]{32}\.(?=[A-Za-z]{0,15}\d)[A-Za-z0-9]{16}(?![\w-])/g,
  },
  // docs.rapidapi.com/docs/keys
  {
    of: 'RapidAPI',
    holds: 'msh',
    shape: /(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))[a-f0-9]{10}msh[a-f0-9]{15}p1[a-f0-9]{5}jsn[a-f0-9]{12}(?![A-Za-z0-9])/g,
  },
  // developer.okta.com/docs/guides/create-an-api-token: `00` and 40 characters
  {
    of: 'Okta',
    holds: '00',
    shape: /(?:(?<![\w./+-])|(?<=\\[nrt]))00(?=[a-z\d_-]{0,39}[A-Z])(?=[A-Za-f\d_-]{0,39}[g-z])[\w-]{40}(?![\w/+=-])/g,
  },
  // developers.asana.com/docs/personal-access-token
  { of: 'Asana', holds: '/', shape: /(?:(?<![\w/])|(?<=\\[nrt]))[12]\/\d{12,19}\/\d{12,19}:[a-f0-9]{32}(?![\w-])/g },
  // docs.convex.dev/cli/deploy-key-types
  {
    of: 'Convex',
    holds: '|',
    shape: /(?<=\b(?:prod|preview|dev|project):[\w:-]{1,80}\|)[A-Za-z0-9+/=]{30,400}/g,
  },
  // api-dashboard.search.brave.com/documentation
  {
    of: 'Brave Search',
    holds: 'BSA',
    shape: /(?:(?<![\w-])|(?<=\\[nrt]))BSA(?=[A-Za-z_-]{0,26}\d)(?=[A-Z\d_-]{0,26}[a-z])[\w-]{27}(?![\w-])/g,
  },
  { of: 'argon2', holds: '$argon2', shape: /(?<![\w$])\$argon2(?:id|i|d)\$[\w=,$+/]{20,300}/g },
];
