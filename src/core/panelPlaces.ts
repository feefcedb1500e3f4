/** Place of a model's prices in the settings panel. */
export const makePricesPlace = (profileId: string): string => `profiles.${profileId}.prices`;
