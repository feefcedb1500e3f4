/** The panel's display state, which VS Code keeps over a reload. */
import * as z from 'zod';
import { previewedConversationNameSchema } from '../../../src/panel/protocol';

const objectSchema = z.record(z.string(), z.unknown());

const viewStateSchema = z.object({
  scope: z.enum(['user', 'workspace']).catch('user'),
  /** IDs of the expanded sections. */
  open: z.array(z.string()).catch([]),
  /** Scroll position in pixels. */
  scroll: z.number().catch(0),
  /** The conversation that the panel previews. */
  previewed: previewedConversationNameSchema.catch({ kind: 'default' }),
  /**
   * Unapplied edits of passes, by scope and key. Stored because VS Code recreates the page when its
   * window is reloaded or the page moves to another one.
   */
  drafts: z.record(z.string(), z.object({ before: objectSchema, after: objectSchema })).catch({}),
  /**
   * Each scope's last own Smart configuration, so that the user can return to it after choosing a
   * preset.
   */
  ownPasses: z.record(z.string(), objectSchema).catch({}),
  /** The form of a model that is not added yet, without its key. */
  newProfile: z
    .object({ source: z.string(), fields: z.record(z.string(), z.string()), figures: objectSchema })
    .optional()
    .catch(undefined),
  /** The two compared configurations: `current`, `preset ID` or `provider ID`. */
  compared: z.tuple([z.string(), z.string()]).catch(['current', 'preset file-aware']),
});
export type ViewState = z.output<typeof viewStateSchema>;

/** Selects the part that survives closing the panel's tab. */
export const selectPersistentState = ({
  drafts,
  newProfile,
  ownPasses,
  previewed,
  compared,
}: ViewState): Partial<ViewState> => ({
  drafts,
  newProfile,
  ownPasses,
  previewed,
  compared,
});

/** Replaces invalid parts by their defaults. */
export function readViewState(kept: unknown): ViewState {
  const result = viewStateSchema.safeParse(kept ?? {});
  return result.success ? result.data : viewStateSchema.parse({});
}
