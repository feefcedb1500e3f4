/** The host's last state. React reads it through `useSyncExternalStore`. */
import type { PanelState, WelcomeMessage } from '../../../src/panel/protocol';
import type { PanelEvent } from './connection';

export interface PanelStoreData {
  readonly welcome: Omit<WelcomeMessage, 'type' | 'state' | 'texts'>;
  readonly state: PanelState;
  /** Number that grows when the previewed conversation changes; 0 at first. */
  readonly previewRevision: number;
  /** The section that the host requested last, with a number that distinguishes repeated requests. */
  readonly wanted: { readonly section: string; readonly number: number } | undefined;
}

export class PanelStore {
  private panelData: PanelStoreData | undefined;
  private readonly listeners = new Set<() => void>();

  readonly get = (): PanelStoreData | undefined => this.panelData;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Ignores an older state, because messages may overtake each other. */
  applyEvent(event: PanelEvent): void {
    switch (event.type) {
      case 'welcome': {
        const { schemas, providers, language, state, kept } = event;
        this.panelData = {
          welcome: { schemas, providers, language, kept },
          state,
          previewRevision: this.panelData?.previewRevision ?? 0,
          wanted: this.panelData?.wanted,
        };
        break;
      }
      case 'state':
        if (!this.panelData || event.state.revision <= this.panelData.state.revision) return;
        this.panelData = { ...this.panelData, state: event.state };
        break;
      case 'previewChanged':
        if (!this.panelData || event.revision <= this.panelData.previewRevision) return;
        this.panelData = { ...this.panelData, previewRevision: event.revision };
        break;
      case 'reveal':
        if (!this.panelData) return;
        this.panelData = {
          ...this.panelData,
          wanted: { section: event.section, number: (this.panelData.wanted?.number ?? 0) + 1 },
        };
        break;
    }
    for (const listener of this.listeners) listener();
  }
}
