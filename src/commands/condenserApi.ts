import * as vscode from 'vscode';
import { modelSettings } from '../window/settings/modelSettings';
import { engineOf, type Engine } from '../window/engine';
import type { Services } from '../window/services';
import { configToRun, fallbackConfigs } from '../window/settings/providerConfig';
import { lmMessages } from '../api/vscodeLm';
import { fromChat } from '../agent/conversion';
import { fromOpenAI, toOpenAI } from '../conversations/formats/openai/openai';
import { toVsCode } from '../window/languageModels';
import { keepMetrics } from '../window/metrics';
import { runMetrics } from '../core/condense/metrics/metrics';
import { manualSettings } from '../window/settings/manualSettings';
import {
  condenseIfNeeded,
  type AutomaticRequest,
  type CondensationManager,
  type CondensationOutcome,
  type CondensationRequest,
} from '../core/condense';
import { originalOf } from '../core/condense/edits/edits';
import { expandReference, referencesOf } from '../core/condense/edits/references';
import type { ReferenceId } from '../core/messages/markers';
import { formatReport } from '../core/condense/report/report';
import type { ConfigSchema } from '../core/condense/types';
import type { CondenseOptions, ContextCondenserApi, ModelWindow, Outcome, ProfileInfo } from '../extensionApi/api';
import { externalProvider } from '../extensionApi/externalProvider';
import { sendableView } from '../extensionApi/externalView';
import { outcomeOf } from '../extensionApi/outcome';
import {
  parseConversation,
  parseMessages,
  parseModelWindow,
  parseOpenAI,
  parseOptions,
  parseProvider,
  type ParsedConversation,
} from '../extensionApi/parse';

/** The API over the providers of this window. What takes time to load is loaded when it is first needed. */
export function condenserApi(services: Services): ContextCondenserApi {
  const { registered, condensed } = services;
  const engine = (): Promise<Engine> => engineOf(services);
  /** Logs an outcome, tells of it where it condensed, and gives it the form of the API. */
  const publicOutcome = (
    { manager }: Engine,
    { id, ...conversation }: ParsedConversation,
    { provider: chosen, notes }: Chosen,
    outcome: CondensationOutcome,
  ): Outcome => {
    const report = formatReport(outcome, (provider) => manager.providerName(provider));
    services.log.info(`${id} (asked for by another extension)\n${report}`);
    if (outcome.kind === 'condensed') {
      const { provider, tokensBefore, tokensAfter, cost } = outcome;
      condensed.fire({ source: 'api', conversation: id, provider, tokensBefore, tokensAfter, cost });
    }
    const run = runMetrics(outcome, chosen, new Date(), { trigger: 'api' });
    void keepMetrics(services, run, chosen);
    return outcomeOf({ ...outcome, notes: [...notes, ...outcome.notes] }, conversation);
  };

  return {
    version: 1,
    async listProviders() {
      const { manager } = await engine();
      return manager.listProviders().map(({ capabilities, ...info }) => ({
        ...info,
        usesModel: capabilities.supportsLLMSummarization,
        configSchema: copied(manager.getProvider(info.id).getConfigSchema()),
      }));
    },
    listProfiles: () => Promise.resolve(profileInfos()),
    async estimate(conversation, options) {
      const parsed = parseConversation(conversation);
      const asked = parseOptions(options);
      const { manager, counter } = await engine();
      const chosen = chosenBy(asked, manager);
      if (typeof chosen === 'string') {
        const tokens = counter.messages(sendableView(parsed.messages, parsed.edits));
        return { tokensBefore: tokens, tokensAfter: tokens, cost: 0, problem: chosen };
      }
      const request = requestOf(parsed, asked, chosen);
      const { tokensBefore, tokensAfter, cost } = await manager.estimate(request);
      return { tokensBefore, tokensAfter, cost };
    },
    async condense(conversation, options) {
      const parsed = parseConversation(conversation);
      const asked = parseOptions(options);
      const made = await engine();
      const chosen = chosenBy(asked, made.manager);
      if (typeof chosen === 'string') return notThere(made, parsed, asked, chosen);
      return publicOutcome(made, parsed, chosen, await made.manager.condense(requestOf(parsed, asked, chosen)));
    },
    async condenseIfNeeded(conversation, model, options) {
      const parsed = parseConversation(conversation);
      const asked = parseOptions(options);
      const terms = termsOf(model);
      const { condensing, maxCost } = modelSettings();
      const policy = {
        mayUseNative: condensing !== undefined && maxCost > 0,
        configs: fallbackConfigs(),
      };
      const made = await engine();
      const chosen = chosenBy(asked, made.manager);
      if (typeof chosen === 'string') return notThere(made, parsed, asked, chosen);
      const request = { ...requestOf(parsed, asked, chosen), ...terms };
      const outcome = await condenseIfNeeded(made.manager, made.counter, request, policy);
      if (outcome.kind === 'ran') return publicOutcome(made, parsed, chosen, outcome.outcome);
      const { tokens, percent } = outcome.decision;
      return { kind: 'not-due', tokens, percent };
    },
    viewOf: (conversation) => {
      const { messages, edits } = parseConversation(conversation);
      return sendableView(messages, edits);
    },
    expand: (conversation, reference) => originalBehind(parseConversation(conversation), reference),
    fromOpenAI: (messages) => fromOpenAI(parseOpenAI(messages)),
    toOpenAI: (messages) => toOpenAI(parseMessages(messages)),
    fromVSCode: (messages) => fromChat(messages),
    toVSCode: (messages) => lmMessages({ messages: parseMessages(messages) }).map(toVsCode),
    registerProvider: (provider) => new vscode.Disposable(registered.add(externalProvider(parseProvider(provider)))),
    onDidCondense: condensed.event,
  };
}

/** The user's profiles, without anything secret. */
function profileInfos(): ProfileInfo[] {
  const { profiles, condensing } = modelSettings();
  return profiles.map(({ id, name, vendor, model }) => ({
    id,
    name,
    vendor,
    model,
    isCondensing: id === condensing?.id,
  }));
}

/** The text that a reference of a view stands for; undefined where no edit has this reference. */
function originalBehind({ messages, edits }: ParsedConversation, reference: string): string | undefined {
  for (const edit of edits) {
    // Only the id of a reference finds anything.
    const content = referencesOf([edit]).get(reference as ReferenceId);
    const original = content && originalOf(messages, edit);
    if (content && original !== undefined) return expandReference(content, () => original);
  }
  return undefined;
}

/** The provider that a run gets, with its configuration. */
interface Chosen {
  readonly provider: string;
  readonly config: unknown;
  /** Said with the outcome. */
  readonly notes: readonly string[];
}

/**
 * The provider that the caller names, else the one of the settings. That may be of an extension that has not started: Lossless takes
 * its place, as it does in the chat.
 * @returns why there is none, in words, where the caller names one that isn't there (yet)
 */
function chosenBy({ provider, config }: CondenseOptions, manager: CondensationManager): Chosen | string {
  const known = manager.listProviders().map(({ id }) => id);
  const id = provider ?? manualSettings().provider;
  if (known.includes(id)) return { provider: id, config: configToRun(id, config), notes: [] };
  if (provider !== undefined) {
    return `There is no provider "${provider}"; known providers: ${known.join(', ')}.`;
  }
  const notes = [`The provider "${id}" of the settings is not registered; Lossless was used.`];
  return { provider: 'lossless', config: configToRun('lossless'), notes };
}

/** The outcome where the caller names a provider that isn't there: its extension may not have started. */
const notThere = (
  { counter }: Engine,
  { messages, edits }: ParsedConversation,
  { provider = '' }: CondenseOptions,
  message: string,
): Outcome => ({
  kind: 'failed',
  provider,
  message,
  tokensBefore: counter.messages(sendableView(messages, edits)),
  cost: 0,
  timeMs: 0,
  notes: [],
});

/** The request to the manager. Options that are absent take the user's settings. */
function requestOf(
  { edits, ...conversation }: ParsedConversation,
  { targetTokens, maxCost, signal, onProgress }: CondenseOptions,
  { provider, config }: Chosen,
): CondensationRequest {
  return {
    ...(targetTokens !== undefined && { targetTokens }),
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
    ...conversation,
    conversation: conversation.id,
    edits,
    provider,
    config,
    trigger: 'manual',
    maxCost: Math.min(maxCost ?? Infinity, modelSettings().maxCost),
  };
}

/** When it is due: as the caller says, else as the settings do. */
function termsOf(model: ModelWindow): Pick<AutomaticRequest, 'window' | 'threshold'> {
  const { window, thresholdPercent: percent, thresholdTokens: tokens } = parseModelWindow(model);
  // Who names a threshold means that one: a lower one of the settings would be condensing unasked.
  const { threshold } = modelSettings();
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

/** A copy of a JSON Schema, since what another extension does with its own is no business of ours. */
const copied = (schema: ConfigSchema): ConfigSchema => JSON.parse(JSON.stringify(schema)) as ConfigSchema;
