"""The course as web pages that open from a disk: `make site`.

    pages     text twins → the sources of the pages
    conf      how Sphinx builds them
    formulas  formulas as MathML, which browsers draw by themselves
    links     every link of the built pages, followed

Nothing is run: what a lesson's cell would show stands in the lesson.
"""
