/** Models that can be planned with and never called: the preview's worker has no keys. */
import type { SelectModel } from '../../core/condense/providers/smart/passParts';
import type { OutputSample } from '../../core/condense/summary/expectedOutput';
import { NoSummarizerError, type SummarizerModel } from '../../core/condense/summary/summarizer';
import type { ForecastModel } from './messages';

export class PlannedModels {
  /** Those of the question that is being answered. */
  models: readonly ForecastModel[] = [];

  /** @throws NoSummarizerError */
  readonly select: SelectModel = (apiProfile) => {
    const found = this.models.find((entry) => entry.apiProfile === apiProfile);
    if (!found) throw new NoSummarizerError('No model is set up for condensing. Add an API profile.');
    if ('problem' in found) throw new NoSummarizerError(found.problem);
    const { model, chosen, warning } = found;
    return { summarizer: { model, summarize: neverCalled }, chosen, ...(warning !== undefined && { warning }) };
  };

  readonly samples = ({ model }: SummarizerModel): readonly OutputSample[] => {
    for (const entry of this.models) if ('model' in entry && entry.model.model === model) return entry.samples;
    return [];
  };
}

const neverCalled = (): never => {
  throw new Error('A preview never calls a model.');
};
