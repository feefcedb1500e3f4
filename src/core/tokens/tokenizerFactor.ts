/**
 * How many tokens a model's own tokenizer makes of one o200k token, by model family.
 * Sources: public counts of the same text (sammcj/ingest#65: claude-sonnet-4-5 × 1.18, claude-opus-5 × 1.53;
 * AutoGPT#13629: × 1.5 from 4.7 on). A start value: a response's reported usage corrects it later.
 */
const FAMILIES: readonly { readonly model: RegExp; readonly factor: number }[] = [
  { model: /claude.*(?:-4[.-](?:[7-9]|\d\d)(?!\d)|(?:opus|sonnet|haiku|fable)-[5-9](?!\d))/i, factor: 1.5 },
  { model: /claude/i, factor: 1.18 },
];

/** Factor for a model's id; 1 where the model uses o200k or is not known. */
export const tokenizerFactor = (model: string | undefined): number =>
  FAMILIES.find((family) => model !== undefined && family.model.test(model))?.factor ?? 1;
