package coherence

import (
	"bytes"
	_ "embed"
	"errors"
	"html/template"
	"io"
	"os"
	"path/filepath"

	"starling/loadtest/chart"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page.html").Parse(pageText))

// WriteFiles writes sync.json and the report into a folder.
func (r *Result) WriteFiles(folder string) error {
	return errors.Join(writeFile(filepath.Join(folder, "sync.json"), r.Write), r.WriteReport(folder))
}

// WriteReport writes sync.md, sync.html and the charts into a folder.
func (r *Result) WriteReport(folder string) error {
	content := struct {
		Charts   []template.HTML
		Sections []section
		Footer   string
	}{Sections: r.sections(), Footer: r.footer()}
	for _, d := range r.drawings() {
		var svg bytes.Buffer
		if err := chart.Write(&svg, d.panels); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, d.name), svg.Bytes(), 0o644); err != nil {
			return err
		}
		content.Charts = append(content.Charts, template.HTML(svgElement(svg.Bytes()))) // made here, of names and numbers
	}
	return errors.Join(
		writeFile(filepath.Join(folder, "sync.md"), r.Table),
		writeFile(filepath.Join(folder, "sync.html"), func(w io.Writer) error { return page.Execute(w, content) }))
}

// svgElement leaves out the declarations before the element, which are none of HTML.
func svgElement(svg []byte) []byte {
	if at := bytes.Index(svg, []byte("<svg")); at >= 0 {
		return svg[at:]
	}
	return svg
}

func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
