/** The models that this extension contributes to VS Code's chat: profiles that are offered there, and models that VS Code has already. */
import type * as vscode from 'vscode';
import { knownModel, type PriceTable } from '../api/prices';
import { DEFAULT_MAX_OUTPUT_TOKENS } from '../api/types';
import type { ModelPrices } from '../core/cost/prices';
import { ASSUMED_WINDOW } from '../core/vendors/families';
import { getKnownModel } from '../settings/profileModel';
import type { ApiProfile } from '../settings/profiles';

/** A model of VS Code as far as we know it. */
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
  /** The profile that is called; a wrapped model's is made up. */
  readonly profile: ApiProfile;
  readonly wraps?: WrappedModel;
  /** Input and output together, in tokens. */
  readonly contextWindow: number;
  /** False where nobody says it and {@link ASSUMED_WINDOW} stands in. */
  readonly isWindowKnown: boolean;
  /** The model's tokens for one o200k token, before its answers have told. */
  readonly tokenFactor: number;
  /** Undefined: not known, and found out by its refusal. */
  readonly seesImages?: boolean;
  /** The most that an answer may have, in tokens; undefined where nobody knows it. */
  readonly maxOutputTokens?: number;
  readonly prices?: ModelPrices;
}

/** A model of a profile. */
export function offeredProfile(profile: ApiProfile, table: PriceTable): OfferedModel {
  const { contextWindow, tokenFactor, maxOutputTokens, seesImages, prices } = getKnownModel(profile, table);
  return {
    id: profile.id,
    name: profile.name,
    profile,
    contextWindow: contextWindow ?? ASSUMED_WINDOW,
    isWindowKnown: contextWindow !== undefined,
    tokenFactor,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(seesImages !== undefined && { seesImages }),
    ...(prices && { prices }),
  };
}

/** A model of VS Code, which says what it takes and not what it gives. */
export function offeredWrapped(wraps: WrappedModel, table: PriceTable): OfferedModel {
  const { prices, seesImages, tokenFactor } = knownModel(table, { vendor: 'vscode', model: wraps.family });
  return {
    ...(seesImages !== undefined && { seesImages }),
    id: `${wraps.vendor}:${wraps.id}`,
    name: wraps.name,
    profile: { id: 'wrapped', name: wraps.name, vendor: 'vscode', model: wraps.id },
    wraps,
    ...(prices && { prices }),
    contextWindow: wraps.maxInputTokens + DEFAULT_MAX_OUTPUT_TOKENS,
    isWindowKnown: true,
    tokenFactor,
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
