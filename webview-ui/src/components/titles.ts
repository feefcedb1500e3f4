import { isOperation, OPERATIONS } from '../../../src/core/condense/edits/operations';
import { t } from '../l10n';

const SETTING_TITLES: Readonly<Record<string, () => string>> = {
  // Fields of Lossless
  deduplicateFileReads: () => t('Duplicate file reads'),
  deduplicateResults: () => t('Duplicate results'),
  consolidateToolResults: () => t('Repeated listings, searches and commands'),
  removeObsoleteState: () => t('Superseded state'),
  oneViewPerFile: () => t('Lines of a file shown elsewhere'),
  writesReadBack: () => t('Files read back after being written'),
  repeatedRuns: () => t('Repeated runs of lines'),
  lineNumbers: () => t('Line numbers and paths'),
  terminalNoise: () => t('Terminal noise'),
  failedCalls: () => t('Failed calls that were retried'),
  acrossFiles: () => t('References to other files'),
  strictOnly: () => t('Strict'),
  // Fields of Truncation
  preserveRecentCount: () => t('Newest messages left alone'),
  toolResults: () => t('Tool results'),
  toolParameters: () => t('Tool parameters'),
  messageText: () => t('Message text'),
  keepNewest: () => t('Newest images kept'),
  maxEdge: () => t('Longest edge'),
  maxBytes: () => t('Largest size'),
  preserveUserMessages: () => t('Leave user messages unchanged'),
  preserveAssistantText: () => t('Leave assistant messages unchanged'),
  minimumTokens: () => t('Minimum tokens'),
  mode: () => t('Operation'),
  maxLines: () => t('Lines'),
  maxChars: () => t('Characters'),
  // Fields of Summary
  keepFirst: () => t('Kept at the beginning'),
  keepLast: () => t('Kept at the end'),
  maxSummaryTokens: () => t('Length of a summary'),
  resultChars: () => t('Tool results shown to the model'),
  parameterChars: () => t('Parameters shown to the model'),
  factTokens: () => t('Facts next to the summary'),
  keepUserMessages: () => t('Keep what people wrote'),
  vendorCompaction: () => t('Use the vendor’s compaction'),
  maskSecrets: () => t('Mask keys'),
  // Fields of profiles
  baseUrl: () => t('Base URL'),
  allowInsecureHttp: () => t('Allow unencrypted HTTP'),
  api: () => t('API'),
  projectId: () => t('Project'),
  thresholdTokens: () => t('Threshold in tokens'),
  targetPercent: () => t('Target'),
  prices: () => t('Prices'),
  cacheRead: () => t('Read from cache'),
  cacheWrite: () => t('Write to cache'),
  longCacheWrite: () => t('Write to cache for an hour'),
  maxOutputTokens: () => t('Longest answer'),
  timeoutSeconds: () => t('Time limit'),
  offerInChat: () => t('Offer in the chat'),
  // Fields of Smart
  count: () => t('Newest messages left alone'),
  percentage: () => t('Newest share left alone'),
  keepErrorLines: () => t('Keep error lines'),
  apiProfile: () => t('Model'),
  customPrompt: () => t('Prompt'),
  maxTokens: () => t('Length of a summary'),
  onFailure: () => t('Without a summary'),
  coldTurns: () => t('Turns since the file was read or edited'),
  contentTypes: () => t('Content'),
  roles: () => t('Who wrote it'),
  kinds: () => t('What the tool does'),
  contains: () => t('Text in it'),
  min: () => t('At least'),
  max: () => t('At most'),
  and: () => t('All of'),
  or: () => t('One of'),
  not: () => t('None of'),
  messageIndex: () => t('Message'),
  tools: () => t('Tools'),
  isError: () => t('Failed calls'),
  minTokens: () => t('Minimum tokens'),
  tokenThreshold: () => t('Tokens above'),
  windowPercent: () => t('Share of the window above'),
  overTarget: () => t('More than this many times the target'),
  cacheCold: () => t('Prompt cache has expired'),
  budgetLeft: () => t('Budget left'),
  userMessages: () => t('Leave what people wrote unchanged'),
  keepRecent: () => t('Newest messages that keep theirs'),
  parallelCalls: () => t('Parallel calls'),
  // Kinds of facts that must stay in the view
  errors: () => t('Error lines'),
  todos: () => t('To-dos'),
};

/** Turns "maxSummaryTokens" into "Max summary tokens"; an operation has its own label. */
export function formatFieldName(name: string): string {
  if (isOperation(name)) return OPERATIONS[name].label;
  const spacedName = name
    .replace(/[._-]+/g, ' ')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return spacedName.charAt(0).toUpperCase() + spacedName.slice(1);
}

/** The schema's title takes precedence. */
export function getFieldTitle(name: string, { title }: Readonly<Record<string, unknown>>): string {
  if (typeof title === 'string') return t(title);
  return SETTING_TITLES[name]?.() ?? t(formatFieldName(name));
}
