/** Runs Summary with models that only the extension host can call, because only it has the keys. */
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
  /** Path of the conversation: a file's path, or `<path>#<part>` in a file with several. */
  readonly path: string;
  readonly settings: ManualSettings;
  readonly profile: ApiProfile;
  /** Set if the user picked a model of VS Code for this run, whose price may be unknown. */
  readonly billing?: SummarizerModel['billing'];
  readonly models: ModelSettings;
  readonly signal: AbortSignal;
}

/**
 * Returns the text that Summary would send. Sends nothing.
 * @throws NoSummarizerError; the signal's reason if aborted
 */
export async function previewNativeCompaction(
  services: Services,
  { path, settings, profile, billing, signal }: NativePreviewRequest,
): Promise<string> {
  const recordedRuns = await openMetricsStore(services).readRuns();
  const condensing = await createWindowSummarizer(
    services,
    await getMessageCounter(services),
    profile,
    recordedRuns,
    billing,
  );
  const { model } = selectSummarizer({ condensing }).summarizer;
  const task = { kind: 'prompt', path, history: settings.history, config: readNativeConfig(), model } as const;
  const plannedPrompt = await runInBackground(services, task, signal);
  if (!plannedPrompt) return vscode.l10n.t('There is not enough to condense in this conversation.');
  const factsHeading = vscode.l10n.t('These facts, collected without a model, follow the summary:');
  const compactionHeading = vscode.l10n.t(
    'The vendor’s own compaction is sent these messages, and no prompt from Context Condenser:',
  );
  const prompts = plannedPrompt.isCompacted ? [compactionHeading, plannedPrompt.prompt] : [plannedPrompt.prompt];
  return [
    plannedPrompt.system,
    ...prompts,
    ...(plannedPrompt.facts === '' ? [] : [factsHeading, plannedPrompt.facts]),
  ].join('\n\n────────\n\n');
}

/** @param pickedModel if set, only this profile's model is called */
export function createEngineHostModels(
  services: Services,
  pickedModel?: Pick<NativePreviewRequest, 'profile' | 'billing'>,
): HostModels {
  const loadModels = async (): Promise<WindowModels> => {
    const counter = await getMessageCounter(services);
    const { select, samples } = createWindowModels(services, counter, openMetricsStore(services));
    if (!pickedModel) return { select, samples };
    const selectPickedModel = async (): Promise<SelectedSummarizer> => {
      const recordedRuns = await openMetricsStore(services).readRuns();
      return selectSummarizer({
        condensing: await createWindowSummarizer(
          services,
          counter,
          pickedModel.profile,
          recordedRuns,
          pickedModel.billing,
        ),
      });
    };
    return { select: selectPickedModel, samples };
  };
  let loadingModels: Promise<WindowModels> | undefined;
  return createHostModels({
    models: () => (loadingModels ??= loadModels()),
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
