import { useRef, type ReactNode } from 'react';

interface SliderProps {
  readonly label: string;
  readonly help?: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  /** Returns a description of the value for screen readers. */
  readonly describe: (value: number) => string;
  /** Called while the slider moves; pass the new value back as `value`. */
  readonly onMove: (value: number) => void;
  /** Called when the slider is released. */
  readonly onCommit: (value: number) => void;
}

/** A native slider, because the toolkit has none. */
export function Slider({ label, help, value, min, max, step, describe, onMove, onCommit }: SliderProps): ReactNode {
  const movedValue = useRef<number>(undefined);
  const saveValue = (): void => {
    if (movedValue.current !== undefined) onCommit(movedValue.current);
    movedValue.current = undefined;
  };
  return (
    <input
      type="range"
      className="slider"
      aria-label={label}
      aria-description={help}
      aria-valuetext={describe(value)}
      value={value}
      min={min}
      max={max}
      step={step}
      onChange={(event) => {
        movedValue.current = Number(event.target.value);
        onMove(movedValue.current);
      }}
      onPointerUp={saveValue}
      onKeyUp={saveValue}
      onBlur={saveValue}
    />
  );
}
