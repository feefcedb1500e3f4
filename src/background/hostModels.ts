/**
 * Models that the host calls for an engine in a thread, since keys, VS Code's network and its
 * models are available only there.
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

/** The host's callbacks; plain data crosses the threads. */
export interface HostModels {
  /**
   * The model of a profile, or of the one chosen for condensing; or why there is none.
   * @param own names the conversation's own model, for want of another one.
   */
  readonly select: (apiProfile: string | undefined, own: string | undefined) => Promise<PreviewModel>;
  /**
   * Summarizes with the model selected for a profile. Aborting the signal closes the connection.
   */
  readonly summarize: (
    apiProfile: string | undefined,
    own: string | undefined,
    request: SummaryRequest,
    conversation: string | undefined,
    signal: AbortSignal,
  ) => Promise<SummaryReply>;
  /** Logs a note. */
  readonly warn: (words: string) => void;
}

/**
 * The host's models as providers ask for them.
 * @param signal of the task; a call may have one of its own.
 * @param nameOwn names a conversation's own model to the host; default: there is none.
 */
export function selectFromHost(
  { select, summarize }: HostModels,
  signal: AbortSignal,
  nameOwn: (own: LoadOwnModel | undefined) => string | undefined = () => undefined,
): { readonly select: SelectModel; readonly samples: (model: SummarizerModel) => readonly OutputSample[] } {
  const lengths = new Map<string, readonly OutputSample[]>();
  return {
    async select(apiProfile, ownModel) {
      const own = nameOwn(ownModel);
      const found = await select(apiProfile, own);
      if ('problem' in found) throw new NoSummarizerError(found.problem);
      const { model, chosen, warning, samples } = found;
      lengths.set(model.model, samples);
      return {
        summarizer: {
          model,
          summarize: (request, options = {}) =>
            summarize(apiProfile, own, request, options.conversation, options.signal ?? signal),
        },
        chosen,
        ...(warning !== undefined && { warning }),
      };
    },
    samples: ({ model }) => lengths.get(model) ?? [],
  };
}
