import * as vscode from 'vscode';
import { readModelSettings } from '../window/settings/modelSettings';
import { CondenserClient } from '../engine/condenser/client';
import type { CondensationMessage } from '../engine/condenser/session';
import { getSummaries } from '../window/background';
import { getMessageCounter } from '../window/counter';
import { getReaderThread } from '../window/engineThread';
import { copyAsPlainData } from '../window/settings/plain';
import { createBuiltInProviders } from '../window/settings/settingRules';
import { askModel } from './askModel';
import { createEngineHostModels } from './native';
import type { Services } from '../window/services';
import { resolveProviderConfig, readFallbackConfigs, readOwnPresets } from '../window/settings/providerConfig';
import { convertLmMessages } from '../api/vscodeLm';
import { convertChatMessages } from '../agent/conversion';
import { convertFromOpenAI, convertToOpenAI } from '../conversations/formats/openai/openai';
import { toVsCodeMessage } from '../window/languageModels';
import { recordMetrics } from '../window/metrics';
import { createRunMetrics } from '../core/condense/metrics/metrics';
import { readManualSettings } from '../window/settings/manualSettings';
import type { AutomaticRequest, CondensationProvider } from '../core/condense';
import type { OutcomeWithoutView } from '../core/condense/condensation';
import { getProviderName } from '../core/condense/types';
import { getOriginalText } from '../core/condense/edits/edits';
import { expandReference, collectReferences } from '../core/condense/edits/references';
import type { ReferenceId } from '../core/messages/markers';
import { formatOutcomeReport } from '../core/condense/report/report';
import type { ConfigSchema } from '../core/condense/types';
import type { CondenseOptions, ContextCondenserApi, ModelWindow, Outcome, ProfileInfo } from '../extensionApi/api';
import { createExternalProvider } from '../extensionApi/externalProvider';
import { makeApiView } from '../extensionApi/externalView';
import { toApiOutcome } from '../extensionApi/outcome';
import {
  parseConversation,
  parseMessages,
  parseModelWindow,
  parseOpenAI,
  parseOptions,
  parseProvider,
  type ParsedConversation,
} from '../extensionApi/parse';

export function createCondenserApi(services: Services): ContextCondenserApi {
  const { registered, condensed } = services;
  const condenser = getCondenser(services);
  /** Logs an outcome, announces it to listeners, and converts it to the API's form. */
  const publishOutcome = (
    { id, ...conversation }: ParsedConversation,
    { provider: providerId, notes }: ProviderChoice,
    outcome: OutcomeWithoutView,
  ): Outcome => {
    const report = formatOutcomeReport(outcome, (provider) => getProviderName(provider, registered.listProviders()));
    services.log.info(`${id} (asked for by another extension)\n${report}`);
    if (outcome.kind === 'condensed') {
      const { provider, tokensBefore, tokensAfter, cost } = outcome;
      condensed.fire({ source: 'api', conversation: id, provider, tokensBefore, tokensAfter, cost });
    }
    const runMetrics = createRunMetrics(outcome, providerId, new Date(), { trigger: 'api' });
    void recordMetrics(services, runMetrics, providerId);
    return toApiOutcome({ ...outcome, notes: [...notes, ...outcome.notes] }, conversation);
  };
  const countViewTokens = ({ messages, edits }: ParsedConversation): Promise<number> =>
    condenser.count(makeApiView(messages, edits));

  return {
    version: 1,
    listProviders: () =>
      Promise.resolve(
        listProviders(services).map((provider) => ({
          id: provider.id,
          name: provider.name,
          description: provider.description,
          version: provider.version,
          usesModel: provider.getCapabilities().supportsLLMSummarization,
          configSchema: copySchema(provider.getConfigSchema()),
        })),
      ),
    listProfiles: () => Promise.resolve(listProfiles()),
    askModel: (request) => askModel(services, request),
    async estimate(conversation, options) {
      const parsedConversation = parseConversation(conversation);
      const parsedOptions = parseOptions(options);
      const providerChoice = chooseApiProvider(parsedOptions, services);
      if (typeof providerChoice === 'string') {
        const tokens = await countViewTokens(parsedConversation);
        return { tokensBefore: tokens, tokensAfter: tokens, cost: 0, problem: providerChoice };
      }
      return condenser.estimate(createCondensationRequest(parsedConversation, parsedOptions, providerChoice));
    },
    async condense(conversation, options) {
      const parsedConversation = parseConversation(conversation);
      const parsedOptions = parseOptions(options);
      const providerChoice = chooseApiProvider(parsedOptions, services);
      if (typeof providerChoice === 'string')
        return createUnknownProviderOutcome(await countViewTokens(parsedConversation), parsedOptions, providerChoice);
      return publishOutcome(
        parsedConversation,
        providerChoice,
        await condenser.condense(
          createCondensationRequest(parsedConversation, parsedOptions, providerChoice),
          parsedOptions,
        ),
      );
    },
    async condenseIfNeeded(conversation, model, options) {
      const parsedConversation = parseConversation(conversation);
      const parsedOptions = parseOptions(options);
      const { condensing, maxCost } = readModelSettings();
      const fallbackPolicy = {
        mayUseNative: condensing !== undefined && maxCost > 0,
        configs: readFallbackConfigs(),
      };
      const windowAndPolicy = { ...createWindowAndThreshold(model), policy: fallbackPolicy };
      const providerChoice = chooseApiProvider(parsedOptions, services);
      if (typeof providerChoice === 'string')
        return createUnknownProviderOutcome(await countViewTokens(parsedConversation), parsedOptions, providerChoice);
      const result = await condenser.condenseIfNeeded(
        createCondensationRequest(parsedConversation, parsedOptions, providerChoice),
        windowAndPolicy,
        parsedOptions,
      );
      if (result.kind === 'ran') return publishOutcome(parsedConversation, providerChoice, result.outcome);
      const { tokens, percent } = result;
      return { kind: 'not-due', tokens, percent };
    },
    viewOf: (conversation) => {
      const { messages, edits } = parseConversation(conversation);
      return makeApiView(messages, edits);
    },
    expand: (conversation, reference) => findOriginal(parseConversation(conversation), reference),
    fromOpenAI: (messages) => convertFromOpenAI(parseOpenAI(messages)),
    toOpenAI: (messages) => convertToOpenAI(parseMessages(messages)),
    fromVSCode: (messages) => convertChatMessages(messages),
    toVSCode: (messages) => convertLmMessages({ messages: parseMessages(messages) }).map(toVsCodeMessage),
    registerProvider: (provider) =>
      new vscode.Disposable(registered.addProvider(createExternalProvider(parseProvider(provider)))),
    onDidCondense: condensed.event,
  };
}

const listProviders = ({ registered }: Services): readonly CondensationProvider[] => [
  ...createBuiltInProviders(readOwnPresets),
  ...registered.listProviders(),
];

/** Runs in the reader's thread, so that the chat's requests don't wait for it. */
function getCondenser(services: Services): CondenserClient {
  const thread = getReaderThread(services);
  const { registered } = services;
  return new CondenserClient({
    engine: () => thread.engine,
    summaries: getSummaries(services).folder,
    models: createEngineHostModels(services),
    providers: registered.createCalls(() => getMessageCounter(services)),
    setup: () => ({ presets: copyAsPlainData(readOwnPresets()), registered: registered.describeProviders() }),
  });
}

/** Lists profiles without their secrets. */
function listProfiles(): ProfileInfo[] {
  const { profiles, condensing } = readModelSettings();
  return profiles.map(({ id, name, vendor, model }) => ({
    id,
    name,
    vendor,
    model,
    isCondensing: id === condensing?.id,
  }));
}

/** Returns undefined if no edit has this reference. */
function findOriginal({ messages, edits }: ParsedConversation, reference: string): string | undefined {
  for (const edit of edits) {
    // Safe cast: a text that is no reference's ID finds nothing.
    const content = collectReferences([edit]).get(reference as ReferenceId);
    const original = content && getOriginalText(messages, edit);
    if (content && original !== undefined) return expandReference(content, () => original);
  }
  return undefined;
}

interface ProviderChoice {
  readonly provider: string;
  readonly config: unknown;
  readonly notes: readonly string[];
}

/**
 * Chooses the caller's provider, or else the one in the settings. If the latter's extension has not
 * started, chooses Lossless.
 * @returns an explanation if the caller's provider is missing
 */
function chooseApiProvider({ provider, config }: CondenseOptions, services: Services): ProviderChoice | string {
  const providerIds = listProviders(services).map(({ id }) => id);
  const providerId = provider ?? readManualSettings().provider;
  if (providerIds.includes(providerId))
    return { provider: providerId, config: resolveProviderConfig(providerId, config), notes: [] };
  if (provider !== undefined) {
    return `There is no provider "${provider}"; known providers: ${providerIds.join(', ')}.`;
  }
  const notes = [`The provider "${providerId}" of the settings is not registered; Lossless was used.`];
  return { provider: 'lossless', config: resolveProviderConfig('lossless'), notes };
}

/** Returns the outcome for a provider that isn't registered; its extension may not have started. */
const createUnknownProviderOutcome = (
  tokensBefore: number,
  { provider = '' }: CondenseOptions,
  message: string,
): Outcome => ({
  kind: 'failed',
  provider,
  message,
  tokensBefore,
  cost: 0,
  timeMs: 0,
  notes: [],
});

/** For options that the caller leaves out, uses the user's settings. */
function createCondensationRequest(
  { edits, ...conversation }: ParsedConversation,
  { targetTokens, maxCost }: CondenseOptions,
  { provider, config }: ProviderChoice,
): CondensationMessage {
  return {
    ...(targetTokens !== undefined && { targetTokens }),
    ...conversation,
    conversation: conversation.id,
    edits,
    provider,
    config: copyAsPlainData({ config }).config,
    trigger: 'manual',
    maxCost: Math.min(maxCost ?? Infinity, readModelSettings().maxCost),
  };
}

function createWindowAndThreshold(model: ModelWindow): Pick<AutomaticRequest, 'window' | 'threshold'> {
  const { window, thresholdPercent: percent, thresholdTokens: tokens } = parseModelWindow(model);
  // The caller's threshold applies exactly: a lower one in the settings must not replace it.
  const { threshold } = readModelSettings();
  const { targetPercent } = threshold;
  const isNamed = percent !== undefined || tokens !== undefined;
  return {
    window,
    threshold: isNamed
      ? {
          percent: percent ?? threshold.percent,
          ...(tokens !== undefined && { tokens }),
          ...(targetPercent !== undefined && { targetPercent }),
        }
      : threshold,
  };
}

/** Copies a JSON Schema, so that changes by another extension have no effect here. */
const copySchema = (schema: ConfigSchema): ConfigSchema => JSON.parse(JSON.stringify(schema)) as ConfigSchema;
