/** Vendors as data: an incomplete vendor does not compile or fails vendors.test.ts. */
import type { UsageAccounting } from '../cost/usage';

const WIRES = {
  /** Anthropic's Messages API. */
  messages: { accounting: 'anthropic' },
  /** OpenAI's Chat Completions and Responses. */
  openai: { accounting: 'openai' },
  /** Bedrock's Converse. */
  converse: { accounting: 'anthropic' },
  /** Gemini's generateContent. */
  gemini: { accounting: 'openai' },
  editor: { accounting: 'openai' },
} as const satisfies Readonly<Record<string, { readonly accounting: UsageAccounting }>>;

export type Wire = keyof typeof WIRES;

const VENDOR_FIELDS = [
  'baseUrl',
  'allowInsecureHttp',
  'api',
  'region',
  'projectId',
  'prices',
  'cacheLifetime',
  'timeoutSeconds',
  'thinkingTokens',
] as const;

export type VendorField = (typeof VENDOR_FIELDS)[number];

export interface VendorEntry {
  readonly label: string;
  /**
   * Servers with the same protocol, which users look for by name. `address`: the server's default
   * (docs.ollama.com/api/openai-compatibility, lmstudio.ai/docs/developer/openai-compat,
   * docs.vllm.ai/en/latest/serving). `addressForm`: an example, if everyone has another address
   * (learn.microsoft.com/azure, "v1 API").
   */
  readonly alsoFor?: readonly {
    readonly label: string;
    readonly address?: string;
    readonly addressForm?: string;
    readonly windowNote?: string;
  }[];
  /** The first match counts, and the last row has no pattern. */
  readonly wires: readonly { readonly models?: RegExp; readonly wire: Wire }[];
  /** URL of the API, if it differs from the client's default. */
  readonly address?: string;
  readonly fields: Readonly<Partial<Record<VendorField, 'needed' | 'optional'>>>;
  /**
   * `needed-at-own-endpoint`: optional at a custom URL. `optional`: falls back to the machine's
   * credentials. `none`: no key.
   */
  readonly key: 'needed' | 'needed-at-own-endpoint' | 'optional' | 'none';
  /** Name in the price table; undefined if the models are listed under their makers. */
  readonly pricedAs: string | undefined;
  /** The vendor's own hosts, for which the price table is valid. */
  readonly ownHosts?: RegExp;
  readonly listsModels?: true;
  readonly suggestedModel: string;
}

const CONNECTION_FIELDS = { prices: 'optional', cacheLifetime: 'optional', timeoutSeconds: 'optional' } as const;
const ADDRESS_FIELDS = { baseUrl: 'optional', allowInsecureHttp: 'optional' } as const;

export const VENDORS = {
  anthropic: {
    label: 'Anthropic',
    wires: [{ wire: 'messages' }],
    fields: { ...ADDRESS_FIELDS, ...CONNECTION_FIELDS, thinkingTokens: 'optional' },
    key: 'needed',
    pricedAs: 'anthropic',
    ownHosts: /(?:^|\.)api\.anthropic\.com$/,
    listsModels: true,
    suggestedModel: 'claude-sonnet-5',
  },
  openai: {
    label: 'OpenAI',
    alsoFor: [
      {
        label: 'Ollama',
        address: 'http://127.0.0.1:11434/v1',
        // Ollama reports no error, and its default depends on the video memory
        // (docs.ollama.com/context-length).
        windowNote:
          'Ollama cuts longer prompts at its own context length, which is 4,096 tokens with less than 24 GiB of video memory. Set OLLAMA_CONTEXT_LENGTH where Ollama runs, and the same number as the model’s context window here.',
      },
      { label: 'LM Studio', address: 'http://127.0.0.1:1234/v1' },
      { label: 'vLLM', address: 'http://127.0.0.1:8000/v1' },
      { label: 'Azure', addressForm: 'https://NAME.openai.azure.com/openai/v1' },
    ],
    wires: [{ wire: 'openai' }],
    fields: { ...ADDRESS_FIELDS, ...CONNECTION_FIELDS, api: 'optional' },
    key: 'needed-at-own-endpoint',
    pricedAs: 'openai',
    ownHosts: /(?:^|\.)(?:api\.openai\.com|openai\.azure\.com)$/,
    listsModels: true,
    suggestedModel: 'gpt-5.4-mini',
  },
  openrouter: {
    label: 'OpenRouter',
    wires: [{ wire: 'openai' }],
    fields: { ...ADDRESS_FIELDS, ...CONNECTION_FIELDS },
    address: 'https://openrouter.ai/api/v1',
    key: 'needed',
    pricedAs: 'openrouter',
    ownHosts: /(?:^|\.)openrouter\.ai$/,
    listsModels: true,
    suggestedModel: 'anthropic/claude-sonnet-5',
  },
  bedrock: {
    label: 'Amazon Bedrock',
    // Custom Bedrock inference profiles have an ARN without the model's name, so this assumes
    // Claude.
    wires: [{ models: /claude|^arn:/i, wire: 'messages' }, { wire: 'converse' }],
    fields: { ...CONNECTION_FIELDS, region: 'needed', thinkingTokens: 'optional' },
    key: 'optional',
    pricedAs: 'aws',
    ownHosts: /(?:^|\.)bedrock-runtime\.[\w-]+\.amazonaws\.com$/,
    suggestedModel: 'us.anthropic.claude-sonnet-5',
  },
  vertex: {
    label: 'Google Vertex AI',
    wires: [{ models: /gemini|gemma/i, wire: 'gemini' }, { wire: 'messages' }],
    fields: { ...CONNECTION_FIELDS, region: 'needed', projectId: 'needed', thinkingTokens: 'optional' },
    key: 'optional',
    pricedAs: 'google',
    ownHosts: /(?:^|\.)aiplatform\.googleapis\.com$/,
    suggestedModel: 'claude-sonnet-5',
  },
  gemini: {
    label: 'Google Gemini',
    wires: [{ wire: 'gemini' }],
    fields: { ...ADDRESS_FIELDS, ...CONNECTION_FIELDS, thinkingTokens: 'optional' },
    key: 'needed',
    pricedAs: 'google',
    ownHosts: /(?:^|\.)generativelanguage\.googleapis\.com$/,
    listsModels: true,
    suggestedModel: 'gemini-3.5-flash',
  },
  vscode: {
    label: 'VS Code',
    wires: [{ wire: 'editor' }],
    fields: { prices: 'optional' },
    key: 'none',
    pricedAs: undefined,
    suggestedModel: 'gpt-4o',
  },
} as const satisfies Readonly<Record<string, VendorEntry>>;

export type Vendor = keyof typeof VENDORS;

export const VENDOR_IDS = Object.keys(VENDORS) as [Vendor, ...Vendor[]];

export const isVendor = (value: unknown): value is Vendor => typeof value === 'string' && Object.hasOwn(VENDORS, value);

export const getVendorEntry = (vendor: Vendor): VendorEntry => VENDORS[vendor];

/** The label of the vendor, of a compatible server at its default address, or the host. */
export function getServerLabel(vendor: Vendor, baseUrl: string): string {
  const { label, alsoFor = [], ownHosts } = getVendorEntry(vendor);
  if (!URL.canParse(baseUrl)) return label;
  const getHost = (url: string): string => new URL(url).host.replace(/^localhost(?=:|$)/, '127.0.0.1');
  const { host, hostname } = new URL(baseUrl);
  const compatibleServer = alsoFor.find(({ address, addressForm = '' }) =>
    address === undefined
      ? hostname.endsWith(/NAME(\.[^/]+)/.exec(addressForm)?.[1] ?? '/')
      : getHost(address) === getHost(baseUrl),
  );
  return compatibleServer?.label ?? (ownHosts?.test(hostname) === true ? label : host);
}

export function getWire(vendor: Vendor, model: string): Wire {
  const { wires } = getVendorEntry(vendor);
  return (wires.find(({ models }) => !models || models.test(model)) ?? { wire: 'messages' }).wire;
}

export const getAccounting = (vendor: Vendor, model: string): UsageAccounting =>
  WIRES[getWire(vendor, model)].accounting;

/** A field that is not in VENDOR_FIELDS exists for every vendor. */
export const vendorHasField = (vendor: Vendor, field: string): boolean =>
  !(VENDOR_FIELDS as readonly string[]).includes(field) || field in getVendorEntry(vendor).fields;

export const listRequiredFields = (vendor: Vendor): VendorField[] =>
  VENDOR_FIELDS.filter((field) => getVendorEntry(vendor).fields[field] === 'needed');
