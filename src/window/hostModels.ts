/** The engine calls models through this window, which has the keys and VS Code's network. */
import type { PreviewModel } from '../background/preview/messages';
import type { HostModels } from '../background/hostModels';
import type { SelectModel } from '../core/condense/providers/smart/passParts';
import { NoSummarizerError, type LoadOwnModel, type SelectedSummarizer } from '../core/condense/summarizer';
import type { WindowModels } from './models';

export interface HostModelsDependencies {
  readonly models: () => Promise<WindowModels>;
  /**
   * Returns a function that loads a conversation's own model, given the model's name. By default,
   * there is none.
   */
  readonly getOwnModelLoader?: (name: string) => LoadOwnModel | undefined;
  readonly warn: (words: string) => void;
}

export function createHostModels({
  models,
  getOwnModelLoader: loadOwnModel = () => undefined,
  warn,
}: HostModelsDependencies): HostModels {
  const selectedByName = new Map<string, SelectedSummarizer>();
  const makeModelName = (...names: (string | undefined)[]): string => JSON.stringify(names);
  return {
    async select(apiProfile, ownName) {
      const { select, samples } = await models();
      const ownModel = ownName === undefined ? undefined : loadOwnModel(ownName);
      const { planned, selected } = await createPlannedModel(select, samples, apiProfile, ownModel);
      if (selected) selectedByName.set(makeModelName(apiProfile, ownName), selected);
      return planned;
    },
    async summarize(apiProfile, ownName, request, conversation, signal) {
      const selectedSummarizer = selectedByName.get(makeModelName(apiProfile, ownName));
      if (!selectedSummarizer) throw new Error('No model was selected for this summary.');
      return selectedSummarizer.summarizer.summarize(request, { signal, conversation });
    },
    warn,
  };
}

/** Returns a profile's model, as data and as functions to call it, or why it can't be called. */
export async function createPlannedModel(
  select: SelectModel,
  samples: WindowModels['samples'],
  apiProfile: string | undefined,
  loadOwnModel?: LoadOwnModel,
): Promise<{ readonly planned: PreviewModel; readonly selected?: SelectedSummarizer }> {
  const profileField = apiProfile === undefined ? {} : { apiProfile };
  try {
    const selectedSummarizer = await select(apiProfile, loadOwnModel);
    const { summarizer, chosen: choiceReason, warning } = selectedSummarizer;
    const { model } = summarizer;
    const plannedModel = {
      ...profileField,
      model,
      chosen: choiceReason,
      ...(warning !== undefined && { warning }),
      samples: samples(model),
    };
    return { planned: plannedModel, selected: selectedSummarizer };
  } catch (error) {
    if (!(error instanceof NoSummarizerError)) throw error;
    return { planned: { ...profileField, problem: error.message } };
  }
}
