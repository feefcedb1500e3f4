/** The controls of the panel. Whoever replaces the toolkit changes this folder and nothing else. */
export { Button, IconButton, LinkButton } from './Button';
export { Checkbox } from './Checkbox';
export { Combo } from './Combo';
export { Dropdown, type DropdownChoice } from './Dropdown';
export { Icon } from './Icon';
export { ProgressRing } from './ProgressRing';
export { Slider } from './Slider';
export { TextArea, TextField } from './TextField';
