import * as vscode from 'vscode';
import { modelSettings } from '../window/settings/modelSettings';
import { engineOf, type Engine } from '../window/engine';
import type { Services } from '../window/services';
import { configToRun, fallbackConfigs } from '../window/settings/providerConfig';
import { manualSettings } from '../window/settings/manualSettings';
import {
  condenseIfNeeded,
  type AutomaticRequest,
  type CondensationOutcome,
  type CondensationRequest,
} from '../core/condense';
import { applyEdits } from '../core/condense/edits/applyEdits';
import { originalOf } from '../core/condense/edits/edits';
import { expandReference, referencesOf } from '../core/condense/edits/references';
import type { ReferenceId } from '../core/messages/markers';
import { formatReport } from '../core/condense/report/report';
import type { CondenseOptions, ContextCondenserApi, ModelWindow, Outcome, ProfileInfo } from './api';
import { externalProvider } from './externalProvider';
import { outcomeOf } from './outcome';
import { parseConversation, parseModelWindow, parseOptions, parseProvider, type ParsedConversation } from './parse';

/** The API over the providers of this window. What takes time to load is loaded when it is first needed. */
export function condenserApi(services: Services): ContextCondenserApi {
  const { registered, condensed } = services;
  const engine = (): Promise<Engine> => engineOf(services);
  /** Logs an outcome, tells of it where it condensed, and gives it the form of the API. */
  const publicOutcome = (
    { manager }: Engine,
    { id, edits }: ParsedConversation,
    outcome: CondensationOutcome,
  ): Outcome => {
    const report = formatReport(outcome, manager.providerName(outcome.provider));
    services.log.info(`${id} (asked for by another extension)\n${report}`);
    if (outcome.kind === 'condensed') {
      const { provider, tokensBefore, tokensAfter, cost } = outcome;
      condensed.fire({ source: 'api', conversation: id, provider, tokensBefore, tokensAfter, cost });
    }
    return outcomeOf(outcome, edits);
  };

  return {
    version: 1,
    async listProviders() {
      const { manager } = await engine();
      return manager.listProviders().map(({ capabilities, ...info }) => ({
        ...info,
        usesModel: capabilities.supportsLLMSummarization,
        configSchema: manager.getProvider(info.id).getConfigSchema(),
      }));
    },
    listProfiles: () => Promise.resolve(profileInfos()),
    async estimate(conversation, options) {
      const request = requestOf(parseConversation(conversation), parseOptions(options));
      const { tokensBefore, tokensAfter, cost } = await (await engine()).manager.estimate(request);
      return { tokensBefore, tokensAfter, cost };
    },
    async condense(conversation, options) {
      const parsed = parseConversation(conversation);
      const request = requestOf(parsed, parseOptions(options));
      const made = await engine();
      return publicOutcome(made, parsed, await made.manager.condense(request));
    },
    async condenseIfNeeded(conversation, model, options) {
      const parsed = parseConversation(conversation);
      const request = automaticRequestOf(parsed, model, parseOptions(options));
      const { condensing, maxCost } = modelSettings();
      const policy = {
        mayUseNative: condensing !== undefined && maxCost > 0,
        configs: fallbackConfigs(),
      };
      const made = await engine();
      const outcome = await condenseIfNeeded(made.manager, made.counter, request, policy);
      if (outcome.kind === 'ran') return publicOutcome(made, parsed, outcome.outcome);
      const { tokens, percent } = outcome.decision;
      return { kind: 'not-due', tokens, percent };
    },
    viewOf: (conversation) => {
      const { messages, edits } = parseConversation(conversation);
      return applyEdits(messages, edits).messages;
    },
    expand: (conversation, reference) => originalBehind(parseConversation(conversation), reference),
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

/** The request to the manager. Options that are absent take the user's settings. */
function requestOf(
  { edits, ...conversation }: ParsedConversation,
  { config, maxCost, ...options }: CondenseOptions,
): CondensationRequest {
  const { provider = manualSettings().provider, ...rest } = options;
  return {
    ...rest,
    ...conversation,
    conversation: conversation.id,
    edits,
    provider,
    config: configToRun(provider, config),
    trigger: 'manual',
    maxCost: Math.min(maxCost ?? Infinity, modelSettings().maxCost),
  };
}

/** The same for where the model's window says whether it is due. */
function automaticRequestOf(
  conversation: ParsedConversation,
  model: ModelWindow,
  options: CondenseOptions,
): AutomaticRequest {
  const { window, thresholdPercent: percent, thresholdTokens: tokens } = parseModelWindow(model);
  // Who names a threshold means that one: a lower one of the settings would be condensing unasked.
  const { threshold } = modelSettings();
  const { targetPercent } = threshold;
  const isNamed = percent !== undefined || tokens !== undefined;
  return {
    ...requestOf(conversation, options),
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
