/**
 * Whose models can be called: the one list of vendors. Enums, schemas, forms, pickers, handlers and the documents' lists are
 * made from it or typed by it, so that a vendor left half done does not compile or fails a test (vendors.test.ts).
 */
import type { UsageAccounting } from '../cost/usage';

/** The wire between us and a vendor, and how tokens are counted there. */
const WIRES = {
  /** Anthropic's Messages API. */
  messages: { accounting: 'anthropic' },
  /** OpenAI's Chat Completions and Responses. */
  openai: { accounting: 'openai' },
  /** Bedrock's Converse. */
  converse: { accounting: 'anthropic' },
  /** Gemini's generateContent. */
  gemini: { accounting: 'openai' },
  /** VS Code's language models. */
  editor: { accounting: 'openai' },
} as const satisfies Readonly<Record<string, { readonly accounting: UsageAccounting }>>;

export type Wire = keyof typeof WIRES;

/** Fields of a profile that only some vendors have. All others (model, prices, …) are every vendor's. */
const FIELDS = [
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

export type VendorField = (typeof FIELDS)[number];

export interface VendorEntry {
  /** The vendor's own name; not translated. */
  readonly label: string;
  /** Whose servers speak the same protocol, for lists in which a person looks for a name. */
  readonly alsoFor?: readonly string[];
  /** The wire by the model's id: the first that fits. The last has no pattern and takes the rest. */
  readonly wires: readonly { readonly models?: RegExp; readonly wire: Wire }[];
  /** Address of its API, where that is not the one that its wire's client knows. */
  readonly address?: string;
  /** Whether a profile has no use without it. */
  readonly fields: Readonly<Partial<Record<VendorField, 'needed' | 'optional'>>>;
  /**
   * `needed`: nothing works without. `needed-at-own-endpoint`: a server at another address may take none. `optional`: the
   * machine's own sign-in is used instead. `none`: there is none.
   */
  readonly key: 'needed' | 'needed-at-own-endpoint' | 'optional' | 'none';
  /** Its name in the price table; undefined: the editor's models are listed there under who makes them. */
  readonly pricedAs: string | undefined;
  /** Hosts that are the vendor's own, so that the price table's figures hold there. */
  readonly ownHosts?: RegExp;
  /** Whether it can be asked which models it has (src/api/modelList.ts). */
  readonly listsModels?: true;
  /** The model that a form offers to begin with. */
  readonly suggestedModel: string;
}

const CONNECTION = { prices: 'optional', cacheLifetime: 'optional', timeoutSeconds: 'optional' } as const;
const ADDRESS = { baseUrl: 'optional', allowInsecureHttp: 'optional' } as const;

export const VENDORS = {
  anthropic: {
    label: 'Anthropic',
    wires: [{ wire: 'messages' }],
    fields: { ...ADDRESS, ...CONNECTION, thinkingTokens: 'optional' },
    key: 'needed',
    pricedAs: 'anthropic',
    ownHosts: /(?:^|\.)api\.anthropic\.com$/,
    listsModels: true,
    suggestedModel: 'claude-sonnet-5',
  },
  openai: {
    label: 'OpenAI',
    alsoFor: ['Azure', 'Ollama', 'LM Studio', 'vLLM'],
    wires: [{ wire: 'openai' }],
    fields: { ...ADDRESS, ...CONNECTION, api: 'optional' },
    key: 'needed-at-own-endpoint',
    pricedAs: 'openai',
    ownHosts: /(?:^|\.)(?:api\.openai\.com|openai\.azure\.com)$/,
    listsModels: true,
    suggestedModel: 'gpt-5.4-mini',
  },
  openrouter: {
    label: 'OpenRouter',
    wires: [{ wire: 'openai' }],
    fields: { ...ADDRESS, ...CONNECTION },
    address: 'https://openrouter.ai/api/v1',
    key: 'needed',
    pricedAs: 'openrouter',
    ownHosts: /(?:^|\.)openrouter\.ai$/,
    listsModels: true,
    suggestedModel: 'anthropic/claude-sonnet-5',
  },
  bedrock: {
    label: 'Amazon Bedrock',
    // A profile of one's own in Bedrock has an ARN that doesn't say whose model it is: Claude's, as before.
    wires: [{ models: /claude|^arn:/i, wire: 'messages' }, { wire: 'converse' }],
    fields: { ...CONNECTION, region: 'needed', thinkingTokens: 'optional' },
    key: 'optional',
    pricedAs: 'aws',
    ownHosts: /(?:^|\.)bedrock-runtime\.[\w-]+\.amazonaws\.com$/,
    suggestedModel: 'us.anthropic.claude-sonnet-5',
  },
  vertex: {
    label: 'Google Vertex AI',
    wires: [{ models: /gemini|gemma/i, wire: 'gemini' }, { wire: 'messages' }],
    fields: { ...CONNECTION, region: 'needed', projectId: 'needed', thinkingTokens: 'optional' },
    key: 'optional',
    pricedAs: 'google',
    ownHosts: /(?:^|\.)aiplatform\.googleapis\.com$/,
    suggestedModel: 'claude-sonnet-5',
  },
  gemini: {
    label: 'Google Gemini',
    wires: [{ wire: 'gemini' }],
    fields: { ...ADDRESS, ...CONNECTION, thinkingTokens: 'optional' },
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

/** A vendor's id, as profiles name it. */
export type Vendor = keyof typeof VENDORS;

/** The ids, in the order in which they are shown. */
export const VENDOR_IDS = Object.keys(VENDORS) as [Vendor, ...Vendor[]];

export const isVendor = (value: unknown): value is Vendor => typeof value === 'string' && Object.hasOwn(VENDORS, value);

/** The entry of a vendor, for those who read it without regard to which it is. */
export const vendorEntry = (vendor: Vendor): VendorEntry => VENDORS[vendor];

/** How a vendor's model is spoken to. */
export function getWire(vendor: Vendor, model: string): Wire {
  const { wires } = vendorEntry(vendor);
  return (wires.find(({ models }) => !models || models.test(model)) ?? { wire: 'messages' }).wire;
}

/** How a vendor counts the tokens of a model's calls. */
export const getAccounting = (vendor: Vendor, model: string): UsageAccounting =>
  WIRES[getWire(vendor, model)].accounting;

/** Whether a profile of this vendor has a field. Fields that no vendor is named for are everybody's. */
export const hasField = (vendor: Vendor, field: string): boolean =>
  !(FIELDS as readonly string[]).includes(field) || field in vendorEntry(vendor).fields;

/** Fields that a profile of this vendor has no use without. */
export const neededFields = (vendor: Vendor): VendorField[] =>
  FIELDS.filter((field) => vendorEntry(vendor).fields[field] === 'needed');
