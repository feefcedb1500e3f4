/** The host's last state. React reads it through `useSyncExternalStore`. */
import type { PanelState, WelcomeMessage } from '../../../src/panel/protocol';
import type { PanelEvent } from './connection';

export interface PanelStoreData {
  readonly welcome: Omit<WelcomeMessage, 'type' | 'state' | 'texts'>;
  readonly state: PanelState;
  /** Grows when the previewed conversation changes; initially 0. */
  readonly previewRevision: number;
  /** The section that the host requested last, with a number that distinguishes repeated requests. */
  readonly wanted: { readonly section: string; readonly number: number } | undefined;
}

export class PanelStore {
  private known: PanelStoreData | undefined;
  private readonly listeners = new Set<() => void>();

  readonly get = (): PanelStoreData | undefined => this.known;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Ignores an older state, because messages may overtake each other. */
  applyEvent(event: PanelEvent): void {
    switch (event.type) {
      case 'welcome': {
        const { schemas, providers, language, state, kept } = event;
        this.known = {
          welcome: { schemas, providers, language, kept },
          state,
          previewRevision: this.known?.previewRevision ?? 0,
          wanted: this.known?.wanted,
        };
        break;
      }
      case 'state':
        if (!this.known || event.state.revision <= this.known.state.revision) return;
        this.known = { ...this.known, state: event.state };
        break;
      case 'previewChanged':
        if (!this.known || event.revision <= this.known.previewRevision) return;
        this.known = { ...this.known, previewRevision: event.revision };
        break;
      case 'reveal':
        if (!this.known) return;
        this.known = {
          ...this.known,
          wanted: { section: event.section, number: (this.known.wanted?.number ?? 0) + 1 },
        };
        break;
    }
    for (const listener of this.listeners) listener();
  }
}
