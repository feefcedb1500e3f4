/** Includes invalid entries, so that the user can correct or remove them. */
import { INHERIT_THRESHOLD } from '../../../src/core/condense/trigger/thresholds';
import type { PanelState, ProfileState } from '../../../src/panel/protocol';

export interface ProfileEntry {
  /** The entry's index in the setting. */
  readonly index: number;
  /** Empty if the entry has no ID. */
  readonly id: string;
  readonly name: string;
  readonly vendor: string;
  readonly model: string;
  /** Empty if the entry has no base URL. */
  readonly baseUrl: string;
  /** Threshold in percent; undefined if the general one applies, as it does for an invalid one. */
  readonly threshold: number | undefined;
  /** True if agents in VS Code's chat can use the profile. */
  readonly isOfferedInChat: boolean;
  /** What the host knows of the profile; absent if the entry is invalid. */
  readonly facts: ProfileState | undefined;
}

const asStringOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

export function listProfileEntries({ settings, profiles }: PanelState): ProfileEntry[] {
  const { user: list, problems = [] } = settings['profiles'] ?? {};
  if (!Array.isArray(list)) return [];
  return (list as unknown[]).map((entry, index) => {
    const fields = typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>) : {};
    const id = asStringOrEmpty(fields['id']);
    const { threshold } = fields;
    const isWrong = problems.some(({ path }) => path === `${index}.threshold`);
    const isOwn = typeof threshold === 'number' && threshold !== INHERIT_THRESHOLD && !isWrong;
    return {
      index,
      id,
      name: asStringOrEmpty(fields['name']) || id,
      vendor: asStringOrEmpty(fields['vendor']),
      model: asStringOrEmpty(fields['model']),
      baseUrl: asStringOrEmpty(fields['baseUrl']),
      threshold: isOwn ? threshold : undefined,
      isOfferedInChat: fields['offerInChat'] === true,
      facts: profiles.find((profile) => profile.id === id),
    };
  });
}
