import * as vscode from 'vscode';
import { computeOutputLimit, type SummaryRequest } from '../core/condense/summarizer';
import { formatCost } from '../core/format';
import type { ModelReply, ModelRequest } from '../extensionApi/api';
import { parseModelRequest } from '../extensionApi/parse';
import { computeHighestCost } from '../storage/limitedSummarizer';
import { getMessageCounter } from '../window/counter';
import { openMetricsStore } from '../window/metrics';
import { createWindowSummarizer } from '../window/models';
import { askToUseProfile } from '../window/profileConsent';
import type { Services } from '../window/services';
import { readModelSettings } from '../window/settings/modelSettings';

/**
 * Calls a model for another extension, if the user allows it. The limits in the settings apply per
 * call and per day.
 * @throws TypeError for an invalid request
 */
export async function askModel(services: Services, input: ModelRequest): Promise<ModelReply> {
  const request = parseModelRequest(input);
  const { extension } = request;
  if (!vscode.extensions.getExtension(extension))
    throw new TypeError(`request: extension: "${extension}" is not the id of an installed extension`);
  const { profiles, condensing, maxCost } = readModelSettings();
  const profile = request.profile === undefined ? condensing : profiles.find(({ id }) => id === request.profile);
  if (!profile)
    return createFailedReply(
      request.profile === undefined
        ? 'The user has chosen no model for summaries.'
        : `There is no profile "${request.profile}".`,
    );
  if (!(await askToUseProfile(services, extension, profile))) return { kind: 'denied', cost: 0 };
  const counter = await getMessageCounter(services);
  const summarizer = await createWindowSummarizer(
    services,
    counter,
    profile,
    await openMetricsStore(services).readRuns(),
  );
  if (!('summarize' in summarizer)) return createFailedReply(`${summarizer.profile}: ${summarizer.reason}`);
  const { model } = summarizer;
  const summaryRequest: SummaryRequest = {
    system: request.system,
    prompt: request.prompt,
    maxOutputTokens: computeOutputLimit(request.maxOutputTokens, model),
  };
  const maxAllowedCost = Math.min(request.maxCost ?? Infinity, maxCost);
  const highestCost =
    model.billing === 'included' ? 0 : computeHighestCost(summaryRequest, model, (text) => counter.countText(text));
  if (highestCost === undefined || highestCost > maxAllowedCost) {
    const price =
      highestCost === undefined
        ? `The price of ${model.model} is not known`
        : `It could cost ${formatCost(highestCost)}`;
    return createFailedReply(`${price}; at most ${formatCost(maxAllowedCost)} may be spent on a call.`);
  }
  const { signal } = request;
  const reply = await summarizer.summarize(summaryRequest, signal ? { signal } : {});
  const cost = reply.cost === undefined ? 'unknown cost' : formatCost(reply.cost);
  services.log.info(`${extension} asked ${model.model} (${profile.name}): ${reply.kind}, ${cost}`);
  return reply.kind === 'complete'
    ? { kind: 'complete', text: reply.text, cost: reply.cost }
    : { kind: 'failed', message: reply.message, cost: reply.cost };
}

const createFailedReply = (message: string): ModelReply => ({ kind: 'failed', message, cost: 0 });
