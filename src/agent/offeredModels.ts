/** The models that this extension contributes to VS Code's chat: profiles that are offered there, and models that VS Code has already. */
import type * as vscode from 'vscode';
import type { PriceTable } from '../api/prices';
import { DEFAULT_MAX_OUTPUT_TOKENS } from '../api/types';
import { withOverrides, type ModelPrices } from '../core/cost/prices';
import { familyOf } from '../core/vendors/families';
import type { ApiProfile } from '../settings/profiles';

/** What is known of a model of VS Code. */
export interface WrappedModel {
  readonly vendor: string;
  readonly id: string;
  readonly name: string;
  readonly family: string;
  /** Tokens. */
  readonly maxInputTokens: number;
}

export interface OfferedModel {
  /** Under which VS Code knows it; a profile's is the profile's. */
  readonly id: string;
  readonly name: string;
  /** What is called; a wrapped model's is made up. */
  readonly profile: ApiProfile;
  readonly wraps?: WrappedModel;
  /** Input and output together, in tokens. */
  readonly contextWindow: number;
  /** False where nobody says it and {@link ASSUMED_WINDOW} stands in. */
  readonly isWindowKnown: boolean;
  /** Undefined: not known, and found out by its refusal. */
  readonly seesImages?: boolean;
  /** The most that an answer may have, in tokens; undefined where nobody knows it. */
  readonly maxOutputTokens?: number;
  readonly prices?: ModelPrices;
}

/** The window of a model that nobody names one for, in tokens. */
const ASSUMED_WINDOW = 128_000;

/** A model of a profile. A gateway's model has the window of the vendor's model of that name, but not its prices. */
export function offeredProfile(profile: ApiProfile, table: PriceTable): OfferedModel {
  const { vendor, model, baseUrl, prices: own } = profile;
  const here = table.lookup({ vendor, model, ...(baseUrl !== undefined && { baseUrl }) });
  const window =
    profile.contextWindow ??
    here?.contextWindow ??
    table.lookup({ vendor, model })?.contextWindow ??
    familyOf(model)?.contextWindow;
  const prices = withOverrides(here?.prices, own);
  const seesImages = profile.images ?? familyOf(model)?.seesImages;
  const maxOutputTokens = profile.maxOutputTokens ?? familyOf(model)?.maxOutputTokens;
  return {
    id: profile.id,
    name: profile.name,
    profile,
    contextWindow: window ?? ASSUMED_WINDOW,
    isWindowKnown: window !== undefined,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(seesImages !== undefined && { seesImages }),
    ...(prices && { prices }),
  };
}

/** A model of VS Code, which says what it takes and not what it gives. */
export function offeredWrapped(wraps: WrappedModel, table: PriceTable): OfferedModel {
  const prices = table.lookup({ vendor: 'vscode', model: wraps.family })?.prices;
  const seesImages = familyOf(wraps.family)?.seesImages;
  return {
    ...(seesImages !== undefined && { seesImages }),
    id: `${wraps.vendor}:${wraps.id}`,
    name: wraps.name,
    profile: { id: 'wrapped', name: wraps.name, vendor: 'vscode', model: wraps.id },
    wraps,
    ...(prices && { prices }),
    contextWindow: wraps.maxInputTokens + DEFAULT_MAX_OUTPUT_TOKENS,
    isWindowKnown: true,
  };
}

export interface AgentSettings {
  /** Off: messages go to the model as they came, and its own window is declared, so that VS Code's summarizer does its work. */
  readonly automatic: boolean;
  /** The window that VS Code is told, in tokens; 0: the model's own. */
  readonly declaredWindow: number;
}

/** `isUserSelectable` is read by VS Code 1.120, where the picker leaves out a model without it; the typings don't know it. */
export type ModelInformation = vscode.LanguageModelChatInformation & { readonly isUserSelectable: true };

/** @param texts the model's detail and tooltip, in the user's language. */
export function informationOf(
  model: OfferedModel,
  { automatic, declaredWindow }: AgentSettings,
  texts: { readonly suffix: string; readonly detail: string; readonly tooltip: string },
): ModelInformation {
  const maxOutputTokens = model.maxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS;
  const window = automatic ? Math.max(declaredWindow, model.contextWindow) : model.contextWindow;
  return {
    id: model.id,
    name: `${model.name} · ${texts.suffix}`,
    // The agent chooses its prompt and its tools by the family.
    family: model.wraps?.family ?? model.profile.model,
    version: model.profile.model,
    detail: texts.detail,
    tooltip: texts.tooltip,
    maxInputTokens: Math.max(Math.ceil(window / 2), window - maxOutputTokens),
    maxOutputTokens,
    capabilities: { imageInput: model.seesImages !== false, toolCalling: true },
    isUserSelectable: true,
  };
}
