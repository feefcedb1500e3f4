/** Only the extension host has the keys to call models. */
import * as vscode from 'vscode';
import type { HostModels } from '../background/hostModels';
import type { CondensedResult, NotCondensedResult } from '../background/taskResults';
import { getRunWarnings } from '../core/condense/metrics/metrics';
import { selectSummarizer, type SelectedSummarizer, type SummarizerModel } from '../core/condense/summarizer';
import type { ApiProfile } from '../settings/profiles';
import { runInBackground } from '../window/background';
import { getMessageCounter } from '../window/counter';
import { openMetricsStore } from '../window/metrics';
import type { ModelSettings } from '../window/settings/modelSettings';
import { readNativeConfig } from '../window/settings/providerConfig';
import { createHostModels } from '../window/hostModels';
import { createWindowModels, createWindowSummarizer, type WindowModels } from '../window/models';
import type { Services } from '../window/services';
import type { ManualSettings } from '../window/settings/manualSettings';

export interface NativePreviewRequest {
  /** A file's path, or `<path>#<part>`. */
  readonly path: string;
  readonly settings: ManualSettings;
  readonly profile: ApiProfile;
  /** Set for a model of VS Code picked for this run, whose price may be unknown. */
  readonly billing?: SummarizerModel['billing'];
  readonly models: ModelSettings;
  readonly signal: AbortSignal;
}

/**
 * Sends nothing.
 * @throws NoSummarizerError, the signal's reason if aborted
 */
export async function previewNativeCompaction(
  services: Services,
  { path, settings, profile, billing, signal }: NativePreviewRequest,
): Promise<string> {
  const runs = await openMetricsStore(services).readRuns();
  const condensing = await createWindowSummarizer(services, await getMessageCounter(services), profile, runs, billing);
  const { model } = selectSummarizer({ condensing }).summarizer;
  const task = { kind: 'prompt', path, history: settings.history, config: readNativeConfig(), model } as const;
  const planned = await runInBackground(services, task, signal);
  if (!planned) return vscode.l10n.t('There is not enough to condense in this conversation.');
  const facts = vscode.l10n.t('These facts, collected without a model, follow the summary:');
  const compaction = vscode.l10n.t(
    'The vendor’s own compaction is sent these messages, and no prompt from Context Condenser:',
  );
  const prompts = planned.isCompacted ? [compaction, planned.prompt] : [planned.prompt];
  return [planned.system, ...prompts, ...(planned.facts === '' ? [] : [facts, planned.facts])].join('\n\n────────\n\n');
}

/** @param picked use only this profile's model */
export function createEngineHostModels(
  services: Services,
  picked?: Pick<NativePreviewRequest, 'profile' | 'billing'>,
): HostModels {
  const models = async (): Promise<WindowModels> => {
    const counter = await getMessageCounter(services);
    const { select, samples } = createWindowModels(services, counter, openMetricsStore(services));
    if (!picked) return { select, samples };
    const choose = async (): Promise<SelectedSummarizer> => {
      const runs = await openMetricsStore(services).readRuns();
      return selectSummarizer({
        condensing: await createWindowSummarizer(services, counter, picked.profile, runs, picked.billing),
      });
    };
    return { select: choose, samples };
  };
  let loading: Promise<WindowModels> | undefined;
  return createHostModels({
    models: () => (loading ??= models()),
    warn: (words) => {
      services.log.warn(words);
    },
  });
}

export function addConfiguredWarnings(
  result: CondensedResult | NotCondensedResult,
  models: ModelSettings,
): CondensedResult | NotCondensedResult {
  if (result.kind !== 'condensed') return result;
  const warnings = getRunWarnings(result.metrics, models.warnings);
  const report = [result.report, ...warnings.map((warning) => ` - Note: ${warning}`)].join('\n');
  return { ...result, report, notes: [...result.notes, ...warnings] };
}
