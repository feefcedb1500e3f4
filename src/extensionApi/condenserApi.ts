import * as vscode from 'vscode';
import { modelSettings } from '../commands/modelSettings';
import { engineOf, type Engine } from '../commands/engine';
import type { Services } from '../commands/services';
import { manualSettings } from '../commands/settings';
import { condenseIfNeeded, type CondensationOutcome, type CondensationRequest } from '../core/condense';
import { applyEdits, lastByPlace, originalOf, type Edit } from '../core/condense/edits';
import { expandReference, referencesOf } from '../core/condense/references';
import type { ReferenceId } from '../core/condense/markers';
import { formatReport } from '../core/condense/report';
import { promptOf } from '../settings/profiles';
import type { CondenseOptions, ContextCondenserApi, Edit as ApiEdit, Outcome } from './api';
import { foreignProvider } from './foreignProvider';
import { parseConversation, parseModelWindow, parseOptions, parseProvider, type ParsedConversation } from './parse';

/** The API over the providers of this window. What takes time to load is loaded when it is first needed. */
export function condenserApi(services: Services): ContextCondenserApi {
  const { registered, condensed } = services;
  const engine = (): Promise<Engine> => engineOf(services);

  const told = ({ manager }: Engine, { id, edits }: ParsedConversation, outcome: CondensationOutcome): Outcome => {
    const provider = manager.listProviders().find((info) => info.id === outcome.provider);
    if (provider) services.log.info(`${id} (asked for by another extension)\n${formatReport(outcome, provider)}`);
    if (outcome.kind === 'condensed') {
      const { tokensBefore, tokensAfter, cost } = outcome;
      condensed.fire({
        source: 'api',
        conversation: id,
        provider: outcome.provider,
        tokensBefore,
        tokensAfter,
        cost,
      });
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
    listProfiles() {
      const { profiles, condensing } = modelSettings();
      return Promise.resolve(
        profiles.map(({ id, name, vendor, model }) => ({
          id,
          name,
          vendor,
          model,
          isCondensing: id === condensing?.id,
        })),
      );
    },
    async estimate(conversation, options) {
      const request = requestOf(parseConversation(conversation), parseOptions(options));
      const { tokensBefore, tokensAfter, cost } = await (await engine()).manager.estimate(request);
      return { tokensBefore, tokensAfter, cost };
    },
    async condense(conversation, options) {
      const parsed = parseConversation(conversation);
      const request = requestOf(parsed, parseOptions(options));
      const made = await engine();
      return told(made, parsed, await made.manager.condense(request));
    },
    async condenseIfNeeded(conversation, model, options) {
      const parsed = parseConversation(conversation);
      const { window, thresholdPercent } = parseModelWindow(model);
      const { targetTokens, ...request } = requestOf(parsed, parseOptions(options));
      const { threshold, condensing, maxCost } = modelSettings();
      const made = await engine();
      const { tokenFactor = 1 } = window;
      const outcome = await condenseIfNeeded(
        made.manager,
        made.counter,
        {
          ...request,
          window,
          threshold: { kind: 'percent', percent: thresholdPercent ?? threshold },
          ...(targetTokens !== undefined && {
            target: { kind: 'tokens', tokens: (targetTokens + parsed.overheadTokens) * tokenFactor },
          }),
        },
        { mayUseNative: condensing !== undefined && maxCost > 0, configs: { native: nativeConfig() } },
      );
      if (outcome.kind === 'ran') return told(made, parsed, outcome.outcome);
      const { tokens, percent } = outcome.decision;
      return { kind: 'not-due', tokens, percent };
    },
    viewOf(conversation) {
      const { messages, edits } = parseConversation(conversation);
      return applyEdits(messages, edits).messages;
    },
    expand(conversation, reference) {
      const { messages, edits } = parseConversation(conversation);
      for (const edit of edits) {
        // What isn't the id of a reference is found by none.
        const content = referencesOf([edit]).get(reference as ReferenceId);
        const original = content && originalOf(messages, edit);
        if (content && original !== undefined) return expandReference(content, () => original);
      }
      return undefined;
    },
    registerProvider: (provider) => new vscode.Disposable(registered.add(foreignProvider(parseProvider(provider)))),
    onDidCondense: condensed.event,
  };
}

const nativeConfig = (): { readonly prompt: string } => {
  const { condensing, prompt } = modelSettings();
  return { prompt: promptOf(condensing, prompt) };
};

/** What the manager is asked for. Where nothing is said, the user's settings hold. */
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
    config: config ?? (provider === 'native' ? nativeConfig() : undefined),
    trigger: 'manual',
    maxCost: Math.min(maxCost ?? Infinity, modelSettings().maxCost),
  };
}

function outcomeOf(outcome: CondensationOutcome, earlier: readonly Edit[]): Outcome {
  const { provider, tokensBefore, cost, timeMs, notes } = outcome;
  const base = { provider, tokensBefore, cost, timeMs, notes };
  switch (outcome.kind) {
    case 'condensed': {
      const { tokensAfter, view, edits } = outcome;
      return { ...base, kind: 'condensed', tokensAfter, view, edits: shownEdits(earlier, edits) };
    }
    case 'unchanged':
      return { ...base, kind: 'unchanged', reason: outcome.reason, detail: outcome.detail };
    case 'refused':
      return {
        ...base,
        kind: 'refused',
        problems: outcome.violations.map(({ message, rule, detail }) => `message ${message}: ${detail} (${rule})`),
      };
    case 'failed':
      return { ...base, kind: 'failed', message: outcome.error.message };
    case 'cancelled':
      return { ...base, kind: 'cancelled' };
  }
}

/** An edit is JSON with a few more fields than the API names. */
const shownEdits = (earlier: readonly Edit[], made: readonly Edit[]): readonly ApiEdit[] =>
  lastByPlace([...earlier, ...made]).map((edit) => ({ ...edit }));
