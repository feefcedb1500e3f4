/**
 * VS Code requests models in rounds: once without a configuration, then once for each group saved
 * in "Manage Language Models". Models returned both times are shown twice (seen in 1.139; there are
 * no groups before 1.109). This class detects whether there are groups and returns each model once
 * per round.
 */
import * as z from 'zod';

/** Milliseconds to wait for a group before a round is considered to have none. */
const GROUP_ROUND_MS = 1_500;

/** Values of a saved group, as declared in package.json. */
const groupSchema = z.object({ profile: z.string().optional() });

/** `configuration` is newer than the typings (1.109). */
const optionsSchema = z.object({ configuration: z.unknown().optional() });

/** Decides for each request of VS Code which models to return. */
export class ModelGroups {
  private hasGroups: boolean | undefined;
  private sawGroup = false;
  private readonly given = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  /** @param onDidChange called when an earlier answer became wrong and VS Code should ask again */
  constructor(
    private readonly onDidChange: () => void,
    private readonly roundMs = GROUP_ROUND_MS,
  ) {}

  /** The models to return for a request with these options. */
  listModelsForGroup<T extends { readonly id: string }>(options: unknown, models: readonly T[]): readonly T[] {
    const parsed = optionsSchema.safeParse(options);
    const configuration = parsed.success ? parsed.data.configuration : undefined;
    return configuration === undefined ? this.beginRound(models) : this.selectGroupModels(configuration, models);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private beginRound<T extends { readonly id: string }>(models: readonly T[]): readonly T[] {
    this.given.clear();
    this.sawGroup = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      // A group requested by itself gets its models.
      this.given.clear();
      this.setHasGroups(this.sawGroup);
    }, this.roundMs);
    return this.hasGroups === false ? models : [];
  }

  private selectGroupModels<T extends { readonly id: string }>(
    configuration: unknown,
    models: readonly T[],
  ): readonly T[] {
    this.sawGroup = true;
    this.setHasGroups(true);
    const parsed = groupSchema.safeParse(configuration);
    const wanted = parsed.success ? parsed.data.profile?.trim() : undefined;
    const chosen = models.filter(
      ({ id }) => (wanted === undefined || wanted === '' || id === wanted) && !this.given.has(id),
    );
    for (const { id } of chosen) this.given.add(id);
    return chosen;
  }

  private setHasGroups(hasGroups: boolean): void {
    const before = this.hasGroups;
    this.hasGroups = hasGroups;
    // Models returned without a group are shown twice; after the last group is gone, not at all.
    if (before !== hasGroups && (before !== undefined || !hasGroups)) this.onDidChange();
  }
}
