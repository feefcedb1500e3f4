import { NoSummarizerError, type SelectedSummarizer } from '../../summary/selectSummarizer';

/**
 * The model of a profile; of none the one that is chosen for condensing.
 * @throws NoSummarizerError
 */
export type SelectModel = (apiProfile: string | undefined) => SelectedSummarizer | Promise<SelectedSummarizer>;

/** The models of one condensation: each profile is asked for once. */
export class Models {
  private readonly asked = new Map<string | undefined, Promise<SelectedSummarizer | NoSummarizerError>>();
  private readonly told = new Set<string>();

  constructor(private readonly select: SelectModel) {}

  /** The model of a profile, or why there is none. */
  of(apiProfile: string | undefined): Promise<SelectedSummarizer | NoSummarizerError> {
    const known = this.asked.get(apiProfile);
    if (known) return known;
    const asking = this.ask(apiProfile);
    this.asked.set(apiProfile, asking);
    return asking;
  }

  /** What a person should know of the models that were chosen. */
  get warnings(): readonly string[] {
    return [...this.told];
  }

  private async ask(apiProfile: string | undefined): Promise<SelectedSummarizer | NoSummarizerError> {
    try {
      const selected = await this.select(apiProfile);
      if (selected.warning !== undefined) this.told.add(selected.warning);
      return selected;
    } catch (error) {
      if (!(error instanceof NoSummarizerError)) throw error;
      this.told.add(error.message);
      return error;
    }
  }
}

/** Used where no model is set up: every pass does what it can without one. */
export const noModel: SelectModel = () => {
  throw new NoSummarizerError(
    'No model is set up for condensing. Add an API profile, or choose one of the models in VS Code.',
  );
};
