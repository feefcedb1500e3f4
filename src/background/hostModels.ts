/**
 * Models that are called in the host, because only the host has keys, the network and VS Code's
 * models.
 */
import type { SelectModel } from '../core/condense/providers/smart/passParts';
import type { OutputSample } from '../core/condense/summary/expectedOutput';
import {
  NoSummarizerError,
  type LoadOwnModel,
  type SummarizerModel,
  type SummaryReply,
  type SummaryRequest,
} from '../core/condense/summarizer';
import type { PreviewModel } from './preview/messages';

export interface HostModels {
  /**
   * Returns the profile's model, or why there is none.
   * @param ownModelName the conversation's own model, used if there is no other
   */
  readonly select: (apiProfile: string | undefined, ownModelName: string | undefined) => Promise<PreviewModel>;
  /** Aborting the signal closes the connection. */
  readonly summarize: (
    apiProfile: string | undefined,
    ownModelName: string | undefined,
    request: SummaryRequest,
    conversation: string | undefined,
    signal: AbortSignal,
  ) => Promise<SummaryReply>;
  readonly warn: (words: string) => void;
}

/**
 * @param signal signal of the task; a call may also have its own
 * @param nameOwn returns the host's name for a conversation's own model
 */
export function createHostModelSelection(
  { select, summarize }: HostModels,
  signal: AbortSignal,
  nameOwn: (loadOwnModel: LoadOwnModel | undefined) => string | undefined = () => undefined,
): { readonly select: SelectModel; readonly samples: (model: SummarizerModel) => readonly OutputSample[] } {
  const samplesByModel = new Map<string, readonly OutputSample[]>();
  return {
    async select(apiProfile, ownModel) {
      const ownModelName = nameOwn(ownModel);
      const selection = await select(apiProfile, ownModelName);
      if ('problem' in selection) throw new NoSummarizerError(selection.problem);
      const { model, chosen, warning, samples } = selection;
      samplesByModel.set(model.model, samples);
      return {
        summarizer: {
          model,
          summarize: (request, options = {}) =>
            summarize(apiProfile, ownModelName, request, options.conversation, options.signal ?? signal),
        },
        chosen,
        ...(warning !== undefined && { warning }),
      };
    },
    samples: ({ model }) => samplesByModel.get(model) ?? [],
  };
}
