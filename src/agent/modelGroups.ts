/**
 * VS Code requests models without a configuration, then for each group saved in "Manage Language
 * Models" (since 1.109). It shows models twice that both requests return (seen in 1.139).
 */
import * as z from 'zod';

/**
 * After the request without a configuration, requests for groups must follow within this many
 * milliseconds. If none does, there are no groups.
 */
const GROUP_QUERY_ROUND_MS = 1_500;

const groupSchema = z.object({ profile: z.string().optional() });

/** The typings lack `configuration`, which VS Code sends from 1.109 on. */
const prepareOptionsSchema = z.object({ configuration: z.unknown().optional() });

export class ModelGroups {
  private hasGroups: boolean | undefined;
  private hasSeenGroup = false;
  private readonly returnedIds = new Set<string>();
  private roundTimer: NodeJS.Timeout | undefined;

  /** @param onDidChange called when VS Code should request the models again */
  constructor(
    private readonly onDidChange: () => void,
    private readonly roundMs = GROUP_QUERY_ROUND_MS,
  ) {}

  listModelsForGroup<T extends { readonly id: string }>(options: unknown, models: readonly T[]): readonly T[] {
    const parsedOptions = prepareOptionsSchema.safeParse(options);
    const configuration = parsedOptions.success ? parsedOptions.data.configuration : undefined;
    return configuration === undefined ? this.beginGroupRound(models) : this.selectGroupModels(configuration, models);
  }

  dispose(): void {
    clearTimeout(this.roundTimer);
  }

  private beginGroupRound<T extends { readonly id: string }>(models: readonly T[]): readonly T[] {
    this.returnedIds.clear();
    this.hasSeenGroup = false;
    clearTimeout(this.roundTimer);
    this.roundTimer = setTimeout(() => {
      // A later request for one group comes alone, so it gets all models of its group.
      this.returnedIds.clear();
      this.setHasGroups(this.hasSeenGroup);
    }, this.roundMs);
    return this.hasGroups === false ? models : [];
  }

  private selectGroupModels<T extends { readonly id: string }>(
    configuration: unknown,
    models: readonly T[],
  ): readonly T[] {
    this.hasSeenGroup = true;
    this.setHasGroups(true);
    const parsedGroup = groupSchema.safeParse(configuration);
    const wantedId = parsedGroup.success ? parsedGroup.data.profile?.trim() : undefined;
    const newModels = models.filter(
      ({ id }) => (wantedId === undefined || wantedId === '' || id === wantedId) && !this.returnedIds.has(id),
    );
    for (const { id } of newModels) this.returnedIds.add(id);
    return newModels;
  }

  private setHasGroups(hasGroups: boolean): void {
    const hadGroups = this.hasGroups;
    this.hasGroups = hasGroups;
    // Models that were returned without a group would now appear twice; after the last group is
    // gone, VS Code would show none.
    if (hadGroups !== hasGroups && (hadGroups !== undefined || !hasGroups)) this.onDidChange();
  }
}
