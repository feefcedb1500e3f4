/** Facts that the settings don't contain: whether a key is set, prices, window. */
import type * as vscode from 'vscode';
import { getVendorEntry } from '../core/vendors/vendors';
import { readApiKey } from '../settings/keys';
import { requiresApiKey, type ApiProfile } from '../settings/profiles';
import { readSetting } from '../window/settings/settings';
import type { PanelDependencies } from './parts';
import type { EditorModel, ProfileKeyState, ProfileState } from './protocol';

interface ProfileStates {
  readonly profiles: ProfileState[];
  readonly editorModels: EditorModel[];
}

export class ProfileStatesReader implements vscode.Disposable {
  private states: ProfileStates = { profiles: [], editorModels: [] };
  private generation = 0;

  /** @param changed called whenever new facts were read */
  constructor(
    private readonly dependencies: PanelDependencies,
    private readonly changed: () => void,
  ) {}

  getStates(): ProfileStates {
    return this.states;
  }

  /** Reads all facts again: keys first, then what takes longer. */
  refreshStates(): void {
    void this.readStates(++this.generation);
  }

  dispose(): void {
    this.generation++;
  }

  private async readStates(generation: number): Promise<void> {
    try {
      const profiles = readSetting('profiles');
      const keys = await Promise.all(profiles.map((profile) => this.readKeyState(profile)));
      this.reportStates(generation, {
        ...this.states,
        profiles: profiles.map((profile, index) => ({ id: profile.id, key: keys[index] ?? 'missing' })),
      });
      const { loadModelWindowAndPrices, listEditorModels } = this.dependencies.commands();
      const [models, editorModels] = await Promise.all([
        Promise.all(profiles.map(loadModelWindowAndPrices)),
        listEditorModels(),
      ]);
      this.reportStates(generation, {
        editorModels,
        profiles: profiles.map(({ id }, index) => ({ id, key: keys[index] ?? 'missing', ...models[index] })),
      });
    } catch (error) {
      this.dependencies.services.log.warn(`The settings panel could not look up the models. ${String(error)}`);
    }
  }

  /** Reports facts, unless a newer refresh has begun. */
  private reportStates(generation: number, facts: ProfileStates): void {
    if (generation !== this.generation) return;
    this.states = facts;
    this.changed();
  }

  private async readKeyState(profile: ApiProfile): Promise<ProfileKeyState> {
    if (getVendorEntry(profile.vendor).key === 'none') return 'not-needed';
    const { kind } = await readApiKey(this.dependencies.services.context.secrets, profile);
    return kind === 'missing' && !requiresApiKey(profile) ? 'not-needed' : kind;
  }
}
