import { formatPlural } from '../../core/plural';

export class ExportLosses {
  private readonly countByLoss = new Map<string, number>();

  addLoss(noun: string, outcome: string, count = 1): void {
    const key = JSON.stringify([noun, outcome]);
    if (count > 0) this.countByLoss.set(key, (this.countByLoss.get(key) ?? 0) + count);
  }

  renderNotes(): string[] {
    return [...this.countByLoss].map(([key, count]) => {
      const [noun = '', outcome = ''] = JSON.parse(key) as string[];
      return `${formatPlural(count, noun)}: ${outcome}.`;
    });
  }
}
