import { formatPlural } from '../../core/plural';

export class ExportLosses {
  private readonly counts = new Map<string, number>();

  addLoss(noun: string, outcome: string, count = 1): void {
    const key = JSON.stringify([noun, outcome]);
    if (count > 0) this.counts.set(key, (this.counts.get(key) ?? 0) + count);
  }

  renderNotes(): string[] {
    return [...this.counts].map(([key, count]) => {
      const [noun = '', outcome = ''] = JSON.parse(key) as string[];
      return `${formatPlural(count, noun)}: ${outcome}.`;
    });
  }
}
