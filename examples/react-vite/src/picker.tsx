// A button that opens the browser's file picker. The input itself is not seen, because it goes on naming the files of the last
// pick, whatever became of them.

import type { ReactNode, Ref } from 'react'

interface PickerProps {
  readonly onPicked: (clips: readonly File[]) => void
  readonly children: ReactNode
  readonly input?: Ref<HTMLInputElement>
}

export function Picker({ onPicked, children, input }: PickerProps) {
  return (
    <label className="picker">
      {children}
      <input
        ref={input}
        className="unseen"
        type="file"
        multiple
        accept=".mp4,.mov"
        onChange={({ target }) => {
          onPicked([...(target.files ?? [])])
          // Otherwise picking the same clips once more would fire no event.
          target.value = ''
        }}
      />
    </label>
  )
}
