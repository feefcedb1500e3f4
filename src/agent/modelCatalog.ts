import { loadPriceTable } from '../api/prices';
import { listOtherModels, type LanguageModels } from '../api/vscodeLm';
import type { ApiProfile } from '../settings/profiles';
import { OWN_VSCODE_VENDOR } from '../core/vendors/ownVendor';
import { offerProfile, offerWrappedModel, type OfferedModel, type WrappedModel } from './offeredModels';
import { isEqual } from '../core/isEqual';

export interface CatalogDependencies {
  readonly models: LanguageModels;
  readonly profiles: () => readonly ApiProfile[];
  readonly wrapped: () => readonly string[];
  /**
   * VS Code's own models as of an earlier session, because VS Code may register them after
   * requesting ours.
   */
  readonly remembered: { get(): readonly WrappedModel[]; set(models: readonly WrappedModel[]): void };
  readonly onDidChange: () => void;
}

/**
 * VS Code waits for the offered models, and its own models can't be read during such a request. So
 * they are read in the background.
 */
export class ModelCatalog {
  private offeredModels: readonly OfferedModel[] = [];
  private loadingPromise: Promise<void> | undefined;

  constructor(private readonly dependencies: CatalogDependencies) {}

  async listModels(): Promise<readonly OfferedModel[]> {
    if (!this.loadingPromise) {
      this.loadingPromise = this.readModels();
      void this.refreshWrappedModels();
    }
    await this.loadingPromise;
    return this.offeredModels;
  }

  async findModel(id: string): Promise<OfferedModel | undefined> {
    return (await this.listModels()).find((model) => model.id === id);
  }

  async refreshModels(): Promise<void> {
    this.loadingPromise = this.readModels();
    await this.loadingPromise;
    await this.refreshWrappedModels();
  }

  private async readModels(): Promise<void> {
    const table = await loadPriceTable();
    const wrappedNames = this.dependencies.wrapped();
    const rememberedModels = this.dependencies.remembered.get();
    const offeredModels = [
      ...this.dependencies
        .profiles()
        .filter(({ offerInChat }) => offerInChat === true)
        .map((profile) => offerProfile(profile, table)),
      ...wrappedNames
        .flatMap((name) => rememberedModels.find((model) => getVendorModelName(model) === name) ?? [])
        .map((model) => offerWrappedModel(model, table)),
    ];
    if (isEqual(offeredModels, this.offeredModels)) return;
    this.offeredModels = offeredModels;
    this.dependencies.onDidChange();
  }

  private async refreshWrappedModels(): Promise<void> {
    const wrappedNames = this.dependencies.wrapped();
    if (wrappedNames.length === 0) return;
    const vendors = new Set(wrappedNames.map((name) => name.slice(0, name.indexOf('/'))));
    const foundModels: WrappedModel[] = [];
    for (const vendor of vendors) {
      // If an extension's models can't be listed, its last known models are kept.
      const models = await listOtherModels(this.dependencies.models, OWN_VSCODE_VENDOR, { vendor }).catch(() => []);
      foundModels.push(
        ...models.map(({ id, name, family, maxInputTokens }) => ({ vendor, id, name, family, maxInputTokens })),
      );
    }
    const rememberedModels = this.dependencies.remembered.get();
    const missingModels = rememberedModels.filter(
      (model) => !foundModels.some((other) => getVendorModelName(other) === getVendorModelName(model)),
    );
    const availableModels = [...foundModels, ...missingModels].filter((model) =>
      wrappedNames.includes(getVendorModelName(model)),
    );
    if (isEqual(availableModels, rememberedModels)) return;
    this.dependencies.remembered.set(availableModels);
    await this.readModels();
  }
}

export const getVendorModelName = ({ vendor, id }: Pick<WrappedModel, 'vendor' | 'id'>): string => `${vendor}/${id}`;
