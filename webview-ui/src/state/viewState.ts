/** The panel's looks: kept by VS Code over a reload, and of no consequence elsewhere. */
import * as z from 'zod';
import { conversationNameSchema } from '../../../src/panel/protocol';

const fieldsSchema = z.record(z.string(), z.unknown());

const viewStateSchema = z.object({
  scope: z.enum(['user', 'workspace']).catch('user'),
  /** Ids of the sections that are unfolded. */
  open: z.array(z.string()).catch([]),
  /** Pixels. */
  scroll: z.number().catch(0),
  /** The conversation that things are shown of. */
  previewed: conversationNameSchema.catch({ kind: 'default' }),
  /**
   * Edited passes not yet applied, by scope and key: the pass before and after. They are stored because VS Code
   * recreates the page when its window is reloaded or the page moves to another one.
   */
  drafts: z.record(z.string(), z.object({ before: fieldsSchema, after: fieldsSchema })).catch({}),
  /** By scope, the Smart configuration of its own that it last had: what takes its place can be left again. */
  ownPasses: z.record(z.string(), fieldsSchema).catch({}),
  /** The two configurations that are compared on it: `current`, `preset ID` or `provider ID`. */
  compared: z.tuple([z.string(), z.string()]).catch(['current', 'preset file-aware']),
});
export type ViewState = z.output<typeof viewStateSchema>;

/** The part that survives closing the panel's tab: what the user made or chose, without scroll positions. */
export const selectLastingPart = ({ drafts, ownPasses, previewed, compared }: ViewState): Partial<ViewState> => ({
  drafts,
  ownPasses,
  previewed,
  compared,
});

/** Reads what was kept; what isn't sound takes its default. */
export function readViewState(kept: unknown): ViewState {
  const result = viewStateSchema.safeParse(kept ?? {});
  return result.success ? result.data : viewStateSchema.parse({});
}
