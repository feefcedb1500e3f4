/**
 * VS Code asks for models in rounds: once without a configuration, then once for each group that the user saved in "Manage
 * Language Models". What is given both times is shown twice (seen in 1.139; before 1.109 there are no groups). So it is
 * found out whether there are groups, and each model is given once in a round.
 */
import * as z from 'zod';

/** How long a round without groups is waited for, in milliseconds. */
const ROUND_MS = 1_500;

/** The values of a saved group, as package.json describes them. */
const groupSchema = z.object({ profile: z.string().optional() });

/** `configuration` is newer than the typings (1.109). */
const optionsSchema = z.object({ configuration: z.unknown().optional() });

/** Tells for each call of VS Code's whether a model is given there. */
export class ModelGroups {
  private hasGroups: boolean | undefined;
  private sawGroup = false;
  private readonly given = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  /** @param onDidChange what was answered before is no longer right: VS Code should ask anew. */
  constructor(
    private readonly onDidChange: () => void,
    private readonly roundMs = ROUND_MS,
  ) {}

  /** Those of the models that belong into the answer to a call with these options. */
  answer<T extends { readonly id: string }>(options: unknown, models: readonly T[]): readonly T[] {
    const parsed = optionsSchema.safeParse(options);
    const configuration = parsed.success ? parsed.data.configuration : undefined;
    return configuration === undefined ? this.begin(models) : this.group(configuration, models);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private begin<T extends { readonly id: string }>(models: readonly T[]): readonly T[] {
    this.given.clear();
    this.sawGroup = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      // A group that is asked for alone gets its models.
      this.given.clear();
      this.learn(this.sawGroup);
    }, this.roundMs);
    return this.hasGroups === false ? models : [];
  }

  private group<T extends { readonly id: string }>(configuration: unknown, models: readonly T[]): readonly T[] {
    this.sawGroup = true;
    this.learn(true);
    const parsed = groupSchema.safeParse(configuration);
    const wanted = parsed.success ? parsed.data.profile?.trim() : undefined;
    const chosen = models.filter(
      ({ id }) => (wanted === undefined || wanted === '' || id === wanted) && !this.given.has(id),
    );
    for (const { id } of chosen) this.given.add(id);
    return chosen;
  }

  private learn(hasGroups: boolean): void {
    const before = this.hasGroups;
    this.hasGroups = hasGroups;
    // Models that were given without a group stand twice; with the last group gone, nowhere.
    if (before !== hasGroups && (before !== undefined || !hasGroups)) this.onDidChange();
  }
}
